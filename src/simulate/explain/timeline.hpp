// SPDX-License-Identifier: Apache-2.0
// What happens in a simulation as a timeline that Chrome's about:tracing and Perfetto show: a process a rank, in it a
// thread a lane, and one for the messages that come to it. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "simulate/engine/recorder.hpp"

namespace tutti::simulate {

class Timeline final : public Recorder {
 public:
  // Without words a step has its name, and all of it beside that.
  explicit Timeline(StepWords words = {}) : words_(std::move(words)) {}

  void step(std::uint32_t rank, std::uint32_t lane, std::uint64_t round, const Step& step, double begin,
            double end) override;
  void message(std::uint32_t from, std::uint32_t to, double bytes, double begin, double end) override;

  // The whole file: Chrome's trace event format, microseconds.
  [[nodiscard]] std::string to_json() const;

 private:
  StepWords words_;
  std::string events_;
  std::uint32_t num_ranks_ = 0;
  std::uint32_t num_lanes_ = 0;
};

}  // namespace tutti::simulate
