// SPDX-License-Identifier: Apache-2.0
// A lane's steps one at a time, neighbours fused as the runtime fuses them, without holding more than one. One thread
// at a time.
#pragma once

#include <cstdint>

#include "schedule/fuse.hpp"
#include "schedule/schedule.hpp"

namespace tutti::simulate {

class Cursor {
 public:
  Cursor(const Schedule& schedule, std::uint32_t rank, std::uint32_t lane, Fusion fusion)
      : walk_(schedule.walk(rank, lane)), fuses_(fusion == Fusion::neighbours), ahead_(walk_.next()) {}

  // The next step, borrowed until the next call; null after the last.
  [[nodiscard]] const Step* next() {
    if (ahead_ == nullptr) return nullptr;
    take(*ahead_);
    do {
      ahead_ = walk_.next();
    } while (fuses_ && ahead_ != nullptr && fuse_into(step_, *ahead_));
    return &step_;
  }

 private:
  // Most steps have neither peers nor what they come after.
  void take(const Step& step) {
    step_.kind = step.kind;
    step_.number = step.number;
    step_.post = step.post;
    step_.gives_up_source = step.gives_up_source;
    step_.completes = step.completes;
    step_.sources = step.sources;
    step_.destinations = step.destinations;
    if (!step_.peers.empty() || !step.peers.empty()) step_.peers = step.peers;
    if (!step_.after.empty() || !step.after.empty()) step_.after = step.after;
  }

  Walk walk_;
  bool fuses_;
  const Step* ahead_;  // the walk's own
  Step step_;
};

}  // namespace tutti::simulate
