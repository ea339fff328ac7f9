// SPDX-License-Identifier: Apache-2.0
#include "simulate/trace/simulate_trace.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "simulate/trace/goal.hpp"

namespace tutti::simulate {

Result<PreparedTrace> PreparedTrace::prepare(Trace trace) {
  TUTTI_TRY_ASSIGN(const Predecessors before, match(trace));
  const auto shared = std::make_shared<const Trace>(std::move(trace));
  TUTTI_TRY_ASSIGN(LaidOut laid_out, lay_out(shared, before));
  return PreparedTrace(shared, std::move(laid_out));
}

PreparedTrace::PreparedTrace(std::shared_ptr<const Trace> trace, LaidOut laid_out)
    : trace_(std::move(trace)), laid_out_(std::move(laid_out)) {
  for (const RankTrace& rank : trace_->ranks)
    for (const TraceOperation& operation : rank.operations) {
      if (operation.action != Action::send) continue;
      bytes_ += operation.amount;
      longest_ = std::max(longest_, operation.amount);
    }
}

std::string PreparedTrace::in_words(std::uint32_t rank, std::uint32_t lane, const Step& step) const {
  const std::size_t number =
      laid_out_.additions.number_of(std::size_t{rank} * laid_out_.schedule.num_lanes + lane, step);
  const TraceOperation& operation = trace_->ranks[rank].operations[laid_out_.operations[number]];
  return fmt::format("{} (line {})", in_goal(operation), operation.line);
}

Result<Answer> simulate_trace(const PreparedTrace& trace, const fabric::Fabric& fabric, const TraceOptions& options) {
  const Options told{.count = 1,
                     .fusion = Fusion::none,
                     .alike = Alike::never,
                     .recorder = options.recorder,
                     .additions = &trace.additions(),
                     .check = false,
                     .is_interrupted = options.is_interrupted};
  const bool fits = fabric.queue.slot_bytes == 0 || trace.longest() <= fabric.queue.slot_bytes;
  if (fits && fabric.queue.slot_bytes == 0) return simulate(trace.schedule(), fabric, told);
  fabric::Fabric changed = fabric;
  if (fits) {
    changed.queue.slot_bytes = 0;  // every message fits, so its slot's size does not matter
  } else {
    changed.queue.long_messages = fabric::LongMessages::slots;
  }
  return simulate(trace.schedule(), changed, told);
}

}  // namespace tutti::simulate
