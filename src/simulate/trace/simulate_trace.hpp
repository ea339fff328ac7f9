// SPDX-License-Identifier: Apache-2.0
// A trace in virtual time: the engine of schedules walks it, over the same cores, links and costs. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "simulate/simulate.hpp"
#include "simulate/trace/lay_out.hpp"
#include "simulate/trace/trace.hpp"

namespace tutti::simulate {

// A trace whose receives have found their messages, laid out for the engine.
class PreparedTrace {
 public:
  // See match() and lay_out() for what may be wrong.
  [[nodiscard]] static Result<PreparedTrace> prepare(Trace trace);

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const Schedule& schedule() const { return laid_out_.schedule; }
  [[nodiscard]] const Additions& additions() const { return laid_out_.additions; }
  // Of all messages together, and the longest.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t longest() const { return longest_; }
  // The operation that a step of the engine stands for, as the file has it.
  [[nodiscard]] std::string in_words(std::uint32_t rank, std::uint32_t lane, const Step& step) const;

 private:
  PreparedTrace(std::shared_ptr<const Trace> trace, LaidOut laid_out);

  std::shared_ptr<const Trace> trace_;
  LaidOut laid_out_;
  std::uint64_t bytes_ = 0;
  std::uint64_t longest_ = 0;
};

struct TraceOptions {
  Recorder* recorder = nullptr;  // borrowed
  std::function<bool()> is_interrupted = [] { return false; };
};

// As simulate() of a schedule. Computing is in the share of reducing. Where a fabric's queue would make rounds of
// a schedule whose messages are too long, those of a trace go slot by slot: it has no rounds.
[[nodiscard]] Result<Answer> simulate_trace(const PreparedTrace& trace, const fabric::Fabric& fabric,
                                            const TraceOptions& options);

}  // namespace tutti::simulate
