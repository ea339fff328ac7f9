// SPDX-License-Identifier: Apache-2.0
#include "schedule/msccl/divided.hpp"

#include <unordered_map>

#include <fmt/format.h>

#include "schedule/prove/happens_before.hpp"

namespace tutti::msccl {

namespace {

std::uint64_t key_of(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32U | low; }

class OrderCheck {
 public:
  OrderCheck(const File& file, const Lanes& lanes, const Buffers& buffers, const std::vector<DividedCell>& cells)
      : file_(file), lanes_(lanes), buffers_(buffers), messages_(lanes.num_messages) {
    const auto num_lanes = static_cast<std::uint32_t>(lanes.lanes.size());
    for (std::uint32_t lane = 0; lane < num_lanes; ++lane) clocks_.emplace_back(lane, num_lanes);
    for (const Wait& wait : lanes.waits) passed_.try_emplace(key_of(wait.lane, wait.step));
    for (const DividedCell& each : cells) histories_.try_emplace(key_of(each.rank, each.cell));
  }

  Status run() {
    StepOrder order(lanes_);
    while (const auto next = order.next()) {
      lane_ = next->lane;
      const LaneStep& step = lanes_.lanes[lane_].steps[next->step];
      for (std::uint32_t each = step.first_wait; each < step.first_wait + step.num_waits; ++each)
        clocks_[lane_].join(passed_.at(key_of(lanes_.waits[each].lane, lanes_.waits[each].step)));
      if (step.received != kNone) clocks_[lane_].join(messages_[step.received]);
      clocks_[lane_].tick();
      const StepType& type = *step.file->type;
      if (type.reads_source) TUTTI_TRY(use(step, step.file->source_buffer, step.file->source, false));
      if (type.reads_destination) TUTTI_TRY(use(step, step.file->destination_buffer, step.file->destination, false));
      if (type.writes) TUTTI_TRY(use(step, step.file->destination_buffer, step.file->destination, true));
      if (step.sent != kNone) messages_[step.sent] = clocks_[lane_].now();
      if (const auto awaited = passed_.find(key_of(lane_, next->step)); awaited != passed_.end())
        awaited->second = clocks_[lane_].now();
    }
    return {};
  }

 private:
  Status use(const LaneStep& step, Buffer buffer, std::int32_t first, bool writes) {
    const std::uint32_t rank = lanes_.lanes[lane_].rank;
    const Clock& clock = clocks_[lane_];
    const Access access{lane_, clock.time()};
    for (std::int32_t chunk = first; chunk < first + step.file->count; ++chunk) {
      const auto number = static_cast<std::uint32_t>(chunk);
      const auto found = histories_.find(key_of(rank, *buffers_.cell(rank, buffer, number)));
      if (found == histories_.end()) continue;
      const auto earlier = writes ? found->second.write(clock, access) : found->second.read(clock, access);
      if (!earlier) continue;
      // A lane's clock counts its steps from 1 on.
      const std::uint32_t line = lanes_.lanes[earlier->lane].steps[earlier->time - 1].file->line;
      return wrong_at(
          file_.path, step.file->line,
          fmt::format("found {} of gpu {}, which line {} uses as well and nothing orders the two, expected a "
                      "dependency",
                      Buffers::name(buffer, number), rank, line));
    }
    return {};
  }

  const File& file_;
  const Lanes& lanes_;
  const Buffers& buffers_;
  std::uint32_t lane_ = 0;
  std::vector<Clock> clocks_;  // by lane
  std::vector<Moment> messages_;
  std::unordered_map<std::uint64_t, Moment> passed_;            // by lane and step, of those that are waited for
  std::unordered_map<std::uint64_t, AccessHistory> histories_;  // by rank and cell
};

}  // namespace

Status check_order(const File& file, const Lanes& lanes, const Buffers& buffers,
                   const std::vector<DividedCell>& cells) {
  return OrderCheck(file, lanes, buffers, cells).run();
}

}  // namespace tutti::msccl
