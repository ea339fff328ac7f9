// SPDX-License-Identifier: Apache-2.0
// What the plugin keeps of one communicator: the lines that are for it, and how often they decided. The lines do not
// change; NCCL may ask from several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nccl_tuner/interface.hpp"
#include "nccl_tuner/lines.hpp"

namespace tutti::nccl_tuner {

// Of the program; the file is what NCCL_TUNER_CONFIG_FILE names, or null.
struct Start {
  std::size_t ranks = 1;
  std::size_t nodes = 1;
  LogFunction log = nullptr;  // or null
  const char* file = nullptr;
};

class Tuner {
 public:
  // Reads the file. What is wrong with it is in the log, and the tuner then leaves all calls to NCCL.
  explicit Tuner(const Start& start);

  // The first line that matches and that NCCL can do; null where NCCL is to choose. `call` needs no ranks and nodes.
  // Allocates nothing.
  template <typename CanDo>
  [[nodiscard]] const Line* choose(Call call, const CanDo& can_do) {
    call.ranks = start_.ranks;
    call.nodes = start_.nodes;
    const Line* chosen = nullptr;
    bool has_matched = false;
    for (std::size_t line = 0; line < lines_.size() && chosen == nullptr; ++line) {
      if (!lines_[line].matches(call)) continue;
      has_matched = true;
      if (can_do(lines_[line])) chosen = &lines_[line];
    }
    note(has_matched, chosen != nullptr);
    return chosen;
  }

  // Says in the log how often lines decided.
  void report() const;

  [[nodiscard]] std::size_t nodes() const { return start_.nodes; }

 private:
  void read();
  void note(bool has_matched, bool has_decided);
  void log(int level, const std::string& words) const;

  Start start_;
  std::vector<Line> lines_;
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<std::uint64_t> decided_{0};
  std::atomic<std::uint64_t> impossible_{0};  // lines matched, and NCCL could do none
};

}  // namespace tutti::nccl_tuner
