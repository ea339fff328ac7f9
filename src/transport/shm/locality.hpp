// SPDX-License-Identifier: Apache-2.0
// On which memory node pages of shared memory come to lie: a page that nobody has touched yet goes to the node that was
// asked for, whoever touches it first. Without several nodes there is nothing to choose. Thread-safe.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace tutti::shm {

// Whether this machine has more than one memory node.
[[nodiscard]] bool has_several_nodes();

// The node of the processor that the calling thread runs on; 0 where the system does not say.
[[nodiscard]] std::uint32_t own_node();

// The pages that lie wholly in these bytes of a shared mapping go to the node, if it has room.
[[nodiscard]] Status prefer_node(void* begin, std::uint64_t bytes, std::uint32_t node);

}  // namespace tutti::shm
