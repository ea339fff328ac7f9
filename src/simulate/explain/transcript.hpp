// SPDX-License-Identifier: Apache-2.0
// What happens in a simulation in words, event by event, for people who check it by hand. One thread at a time; borrows
// the fabric.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/fabric.hpp"
#include "simulate/engine/recorder.hpp"

namespace tutti::simulate {

class Transcript final : public Recorder {
 public:
  explicit Transcript(const fabric::Fabric& fabric, StepWords words = words_of_schedule)
      : fabric_(fabric), words_(std::move(words)) {}

  void step(std::uint32_t rank, std::uint32_t lane, std::uint64_t round, const Step& step, double begin,
            double end) override;
  void message(std::uint32_t from, std::uint32_t to, double bytes, double begin, double end) override;
  void credit(std::uint32_t from, std::uint32_t to, double begin, double end) override;
  void access(const Transfer& transfer, std::uint32_t rank, double end) override;
  void done(std::uint32_t rank, double time) override;

  // A line for each event: nanoseconds, the rank and, where it is a step's, its lane, and what happens. In the order of
  // time, and at one time by rank.
  [[nodiscard]] std::string text() const;

 private:
  // Of one rank at one time in this order: what a step takes is there before it, and leaves behind it.
  enum class Kind : std::uint8_t { arrival, step, departure, end };
  struct Line {
    double time = 0;
    std::uint32_t rank = 0;
    Kind kind = Kind::step;
    std::string who;
    std::string what;
  };
  void add(double time, std::uint32_t rank, Kind kind, std::string what);

  const fabric::Fabric& fabric_;
  StepWords words_;
  std::vector<Line> lines_;
};

}  // namespace tutti::simulate
