// SPDX-License-Identifier: Apache-2.0
// What the null peer is told to do, by variables TUTTI_NULL_*: each thing that may go wrong with a peer, so that it can
// be seen that the runner copes. Values; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "base/variables/environment.hpp"

namespace tutti::peers {

// A rank, and the how-manieth of its calls, from 1: "1", "1@50"; without a number, the first.
struct Moment {
  int rank = 0;
  std::uint64_t call = 1;
};

struct NullOrders {
  // How long a call takes: `work` times `factor` and then `delay`, which is spun through where `spins`, else slept.
  std::int64_t work = 0;  // nanoseconds
  double factor = 1.0;
  std::int64_t delay = 0;
  bool spins = false;

  std::optional<Moment> crash;      // ends by a signal, in the call
  std::optional<Moment> hang;       // never comes back from the call
  std::optional<Moment> fail;       // throws in the call; the others know nothing of it
  std::int64_t begin = 0;           // nanoseconds that the backend takes to begin
  std::optional<int> exit;          // this rank ends before it has said hello
  bool is_wrong = false;            // claims to give results, and gives none
  std::optional<int> claimed_rank;  // all ranks say that they are this one

  // Of the protocol; by this rank, when it is told to prepare its first case.
  std::optional<int> twice;      // answers twice
  std::optional<int> garbage;    // answers with what is no JSON
  std::optional<int> oversized;  // announces a message of 4 GB
  std::optional<int> silent;     // never answers
  // Comes with a wrong token, beside the real one.
  std::optional<int> stranger;
  // This rank comes behind so many connections that say nothing.
  std::optional<int> crowded;
};

inline constexpr std::string_view kNullPrefix = "TUTTI_NULL_";

// A variable that begins with the prefix and is unknown, or has no such value, is an error.
[[nodiscard]] Result<NullOrders> null_orders(const Environment& environment);

}  // namespace tutti::peers
