// SPDX-License-Identifier: Apache-2.0
// What a process can still do that gets no descriptor. Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/unique_id.hpp"

namespace tutti {

// Sends that to who listens there, by descriptors of another table, and waits at most half a second for it to be heard.
// Where the system has no such tables it is not heard. Returns false where another try may be heard: the listener has
// hung up without an answer.
bool say_without_descriptors(const Address& address, std::span<const std::byte> words);

}  // namespace tutti
