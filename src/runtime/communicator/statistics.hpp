// SPDX-License-Identifier: Apache-2.0
// What a communicator has done: a row for each way of doing something that it has used, with counts. A call that is
// bound (bound_call.hpp) knows its row, so counting it is two additions; the small path counts nothing at all, and its
// calls are those operations of the executor that no row has.
//
// One belongs to one communicator; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/call.hpp"
#include "schedule/collective.hpp"

namespace tutti {

// All words end with a zero and live as long as the communicator.
struct Statistic {
  std::string_view operation;  // a collective, "send" or "receive"
  std::string_view algorithm;  // of a transfer: empty
  std::string_view reach;
  std::uint64_t calls = 0;             // that this rank has begun
  std::optional<std::uint64_t> bytes;  // of their messages together; nothing where they are not counted
};

[[nodiscard]] std::string_view name_of(Reach reach);

struct CallCount {
  Collective collective = Collective::all_reduce;
  const std::string* algorithm = nullptr;  // null: calls of the communicator's own, for which nobody has asked
  Reach reach = Reach::staged;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t message_bytes) {
    ++calls;
    bytes += message_bytes;
  }
};

class CallCounts {
 public:
  // The row, which stays where it is. `algorithm` is borrowed for as long as the counts live.
  [[nodiscard]] CallCount& row(Collective collective, const std::string* algorithm, Reach reach);

  // Of `operations` in all.
  [[nodiscard]] std::vector<Statistic> statistics(std::uint64_t operations) const;

 private:
  std::deque<CallCount> rows_;
};

// As a table for the log, one line each.
[[nodiscard]] std::string to_table(const std::vector<Statistic>& statistics);

}  // namespace tutti
