// SPDX-License-Identifier: Apache-2.0
// Rank 0's side of a meeting: a thread that gives the id to each other rank that asks for it.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"
#include "base/unique_id.hpp"
#include "runtime/bootstrap/start/kept.hpp"

namespace tutti::start {

// Whoever is another user, or says no rank, gets nothing. The name is given up once each rank from 1 has been answered,
// or with the object.
[[nodiscard]] Result<std::unique_ptr<Kept>> serve_id(UniqueFd listener, const UniqueId& id, int num_ranks);

// The same on a network, where nobody says whose process asks: with this greeting, its rank and the end of a line.
[[nodiscard]] Result<std::unique_ptr<Kept>> serve_id_to(std::string greeting, UniqueFd listener, const UniqueId& id,
                                                        int num_ranks);

}  // namespace tutti::start
