// SPDX-License-Identifier: Apache-2.0
#include "schedule/msccl/lanes.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace tutti::msccl {

namespace {

class Assembly {
 public:
  explicit Assembly(const File& file) : file_(file) {}

  Result<Lanes> make() {
    TUTTI_TRY(order_gpus());
    for (const FileGpu* gpu : gpus_) TUTTI_TRY(add_lanes(*gpu));
    lanes_.first_lane.push_back(static_cast<std::uint32_t>(lanes_.lanes.size()));
    TUTTI_TRY(connect());
    for (BlockLane& lane : lanes_.lanes) TUTTI_TRY(add_steps(lane));
    TUTTI_TRY(match_messages());
    lanes_.gpus = std::move(gpus_);
    return std::move(lanes_);
  }

 private:
  [[nodiscard]] Status wrong(std::uint32_t line, std::string_view what) const {
    return wrong_at(file_.path, line, what);
  }

  Status order_gpus() {
    gpus_.assign(static_cast<std::size_t>(file_.num_ranks), nullptr);
    for (const FileGpu& gpu : file_.gpus) {
      const FileGpu*& place = gpus_[static_cast<std::size_t>(gpu.id)];
      if (place != nullptr) return wrong(gpu.line, fmt::format("found gpu {} again, expected each once", gpu.id));
      place = &gpu;
    }
    for (std::size_t rank = 0; rank < gpus_.size(); ++rank)
      if (gpus_[rank] == nullptr) return wrong(file_.line, fmt::format("found no gpu {}, expected one", rank));
    return {};
  }

  Status add_lanes(const FileGpu& gpu) {
    std::vector<const FileBlock*> blocks(gpu.blocks.size());
    for (const FileBlock& block : gpu.blocks) {
      if (static_cast<std::size_t>(block.id) >= blocks.size()) {
        return wrong(block.line, fmt::format("found thread block {}, expected 0 to {}: the gpu has {}", block.id,
                                             blocks.size() - 1, blocks.size()));
      }
      const FileBlock*& place = blocks[static_cast<std::size_t>(block.id)];
      if (place != nullptr)
        return wrong(block.line, fmt::format("found thread block {} again, expected each once", block.id));
      place = &block;
      if (block.send == gpu.id || block.recv == gpu.id) {
        return wrong(block.line, fmt::format("found gpu {} as its own peer, expected another or -1", gpu.id));
      }
      const bool connects = block.send >= 0 || block.recv >= 0;
      if (connects && (block.channel < 0 || block.channel >= file_.num_channels)) {
        return wrong(block.line, fmt::format("found chan=\"{}\", expected less than the {} of nchannels, from 0 on",
                                             block.channel, file_.num_channels));
      }
    }
    lanes_.first_lane.push_back(static_cast<std::uint32_t>(lanes_.lanes.size()));
    lanes_.most_lanes = std::max(lanes_.most_lanes, static_cast<std::uint32_t>(blocks.size()));
    for (const FileBlock* block : blocks) {
      lanes_.lanes.push_back({.rank = static_cast<std::uint32_t>(gpu.id),
                              .number = static_cast<std::uint32_t>(block->id),
                              .file = block,
                              .steps = {}});
    }
    return {};
  }

  // Thread blocks that name each other on the same channel are the ends of a connection.
  Status connect() {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Connection> ends;
    for (std::uint32_t id = 0; id < lanes_.lanes.size(); ++id) {
      const BlockLane& lane = lanes_.lanes[id];
      const FileBlock& block = *lane.file;
      const auto rank = static_cast<std::int32_t>(lane.rank);
      const auto take = [&](std::uint32_t& end, std::string_view does, std::int32_t peer) -> Status {
        if (end == kNone) {
          end = id;
          return {};
        }
        return wrong(block.line, fmt::format("found thread blocks {} and {} of gpu {} both {} {} on channel {}, "
                                             "expected one: the order of messages would be chance",
                                             lanes_.lanes[end].number, lane.number, rank, does, peer, block.channel));
      };
      if (block.send >= 0) TUTTI_TRY(take(ends[{rank, block.send, block.channel}].sender, "send to", block.send));
      if (block.recv >= 0)
        TUTTI_TRY(take(ends[{block.recv, rank, block.channel}].receiver, "receive from", block.recv));
    }
    // Channels of a pair are numbered densely: most programs need only one connection between two ranks, whatever they
    // call it.
    std::pair<std::int32_t, std::int32_t> pair{-1, -1};
    std::uint32_t channel = 0;
    for (auto& [key, connection] : ends) {
      const std::pair own{std::get<0>(key), std::get<1>(key)};
      channel = own == pair ? channel + 1 : 0;
      pair = own;
      connection.from = static_cast<std::uint32_t>(own.first);
      connection.to = static_cast<std::uint32_t>(own.second);
      connection.file_channel = static_cast<std::uint32_t>(std::get<2>(key));
      connection.channel = channel;
      const auto id = static_cast<std::uint32_t>(lanes_.connections.size());
      if (connection.sender != kNone) lanes_.lanes[connection.sender].to = id;
      if (connection.receiver != kNone) lanes_.lanes[connection.receiver].from = id;
      lanes_.connections.push_back(connection);
    }
    return {};
  }

  // For each step of the file: the first from it on that does something and tells of it; as a number in the lane.
  static std::vector<std::uint32_t> telling_steps(const FileBlock& block) {
    std::vector<std::uint32_t> telling(block.steps.size(), kNone);
    std::uint32_t number = 0;
    for (const FileStep& step : block.steps) number += step.type->works() ? 1 : 0;
    std::uint32_t found = kNone;
    for (std::size_t index = block.steps.size(); index-- > 0;) {
      const FileStep& step = block.steps[index];
      if (step.type->works()) {
        --number;
        if (step.has_dependents) found = number;
      }
      telling[index] = found;
    }
    return telling;
  }

  Status add_steps(BlockLane& lane) {
    // Of the lanes of this rank; made when its first lane is met.
    if (lane.number == 0) {
      telling_.clear();
      for (std::uint32_t id = lanes_.first_lane[lane.rank]; id < lanes_.first_lane[lane.rank + 1]; ++id)
        telling_.push_back(telling_steps(*lanes_.lanes[id].file));
    }
    auto first_wait = static_cast<std::uint32_t>(lanes_.waits.size());
    for (const FileStep& step : lane.file->steps) {
      if (step.depends_on_block >= 0) TUTTI_TRY(add_wait(lane, step));
      if (!step.type->works()) continue;  // a nop: its dependency is the next step's
      if (step.type->sends && lane.to == kNone)
        return wrong(step.line, fmt::format("found {} where send is -1, expected a peer to send to", step.type->name));
      if (step.type->receives && lane.from == kNone) {
        return wrong(step.line,
                     fmt::format("found {} where recv is -1, expected a peer to receive from", step.type->name));
      }
      if (lanes_.num_moves > kMostMoves - static_cast<std::uint32_t>(step.count))
        return wrong(step.line, fmt::format("found more than {} chunks in all steps, expected fewer", kMostMoves));
      const auto next_wait = static_cast<std::uint32_t>(lanes_.waits.size());
      lane.steps.push_back({&step, first_wait, next_wait - first_wait, lanes_.num_moves, kNone, kNone});
      lanes_.num_moves += static_cast<std::uint32_t>(step.count);
      first_wait = next_wait;
    }
    lanes_.waits.resize(first_wait);  // nops at the end hold nothing back
    return {};
  }

  Status add_wait(const BlockLane& lane, const FileStep& step) {
    const std::uint32_t first = lanes_.first_lane[lane.rank];
    const auto block = static_cast<std::uint32_t>(step.depends_on_block);
    if (block >= lanes_.first_lane[lane.rank + 1] - first) {
      return wrong(step.line, fmt::format("found depid=\"{}\", expected a thread block of gpu {}, which has {}", block,
                                          lane.rank, lanes_.first_lane[lane.rank + 1] - first));
    }
    const std::vector<std::uint32_t>& telling = telling_[block];
    if (step.depends_on_step < 0 || static_cast<std::size_t>(step.depends_on_step) >= telling.size()) {
      return wrong(step.line, fmt::format("found deps=\"{}\", expected a step of thread block {}, which has {}",
                                          step.depends_on_step, block, telling.size()));
    }
    // The interpreter announces steps with dependents only: whoever waits for another waits for the next of those.
    const std::uint32_t target = telling[static_cast<std::size_t>(step.depends_on_step)];
    if (target == kNone) {
      return wrong(step.line,
                   fmt::format("found deps=\"{}\" of thread block {}, which announces no step from there on, "
                               "expected one with hasdep=\"1\": the wait would not end",
                               step.depends_on_step, block));
    }
    if (block != lane.number) {
      lanes_.waits.push_back({first + block, target});
    } else if (target >= lane.steps.size()) {
      return wrong(step.line, fmt::format("found deps=\"{}\" of its own thread block, expected an earlier step",
                                          step.depends_on_step));
    }
    return {};
  }

  Status match_messages() {
    for (Connection& connection : lanes_.connections) {
      connection.first_message = lanes_.num_messages;
      std::vector<const FileStep*> sent;
      if (connection.sender != kNone) {
        for (LaneStep& step : lanes_.lanes[connection.sender].steps) {
          if (!step.file->type->sends) continue;
          step.sent = connection.first_message + static_cast<std::uint32_t>(sent.size());
          sent.push_back(step.file);
        }
      }
      std::uint32_t received = 0;
      if (connection.receiver != kNone) {
        for (LaneStep& step : lanes_.lanes[connection.receiver].steps) {
          if (!step.file->type->receives) continue;
          if (received == sent.size()) return unmatched(connection, step.file->line, received, "received and not sent");
          if (step.file->count != sent[received]->count) {
            return wrong(step.file->line, fmt::format("found cnt=\"{}\", expected {}: so many are sent in line {}",
                                                      step.file->count, sent[received]->count, sent[received]->line));
          }
          step.received = connection.first_message + received++;
        }
      }
      if (received != sent.size())
        return unmatched(connection, sent[received]->line, received, "sent and not received");
      connection.num_messages = received;
      lanes_.num_messages += received;
    }
    return {};
  }

  // Message number `number`, from 0 on, has one end only.
  [[nodiscard]] Status unmatched(const Connection& connection, std::uint32_t line, std::uint32_t number,
                                 std::string_view what) const {
    return wrong(line, fmt::format("found message {} from gpu {} to gpu {} on channel {} {}, expected both", number,
                                   connection.from, connection.to, connection.file_channel, what));
  }

  const File& file_;
  std::vector<const FileGpu*> gpus_;  // by rank
  std::vector<std::vector<std::uint32_t>> telling_;
  Lanes lanes_;
};

}  // namespace

Result<Lanes> put_together(const File& file) { return Assembly(file).make(); }

StepOrder::StepOrder(const Lanes& lanes)
    : lanes_(lanes),
      passed_(lanes.lanes.size()),
      published_(lanes.connections.size()),
      awaited_(lanes.connections.size()),
      waiters_(lanes.lanes.size()) {
  for (std::uint32_t lane = 0; lane < lanes.lanes.size(); ++lane) ready_.push_back(lane);
}

const Wait* StepOrder::unmet(const LaneStep& step) const {
  for (std::uint32_t each = step.first_wait; each < step.first_wait + step.num_waits; ++each)
    if (passed_[lanes_.waits[each].lane] <= lanes_.waits[each].step) return &lanes_.waits[each];
  return nullptr;
}

bool StepOrder::lacks_message(const BlockLane& lane, const LaneStep& step) const {
  if (step.received == kNone) return false;
  return published_[lane.from] <= step.received - lanes_.connections[lane.from].first_message;
}

bool StepOrder::may_go(std::uint32_t lane) {
  const BlockLane& own = lanes_.lanes[lane];
  const LaneStep& step = own.steps[passed_[lane]];
  if (const Wait* wait = unmet(step)) {
    waiters_[wait->lane].push({wait->step, lane});
    return false;
  }
  if (!lacks_message(own, step)) return true;
  awaited_[own.from] = true;
  return false;
}

void StepOrder::pass(std::uint32_t lane) {
  const BlockLane& own = lanes_.lanes[lane];
  const LaneStep& step = own.steps[passed_[lane]++];
  if (step.sent != kNone) {
    ++published_[own.to];
    if (awaited_[own.to]) ready_.push_back(lanes_.connections[own.to].receiver);
    awaited_[own.to] = false;
  }
  for (auto& waiters = waiters_[lane]; !waiters.empty() && waiters.top().step < passed_[lane]; waiters.pop())
    ready_.push_back(waiters.top().lane);
}

std::optional<StepOrder::Next> StepOrder::next() {
  while (!ready_.empty()) {
    const std::uint32_t lane = ready_.front();
    if (passed_[lane] < lanes_.lanes[lane].steps.size() && may_go(lane)) {
      const Next next{lane, passed_[lane]};
      pass(lane);
      return next;
    }
    ready_.pop_front();
  }
  return std::nullopt;
}

std::string StepOrder::describe(const File& file, std::uint32_t lane, std::uint32_t& other) const {
  const BlockLane& own = lanes_.lanes[lane];
  const LaneStep& step = own.steps[passed_[lane]];
  std::string text =
      fmt::format("gpu {}, thread block {} ({}:{}) waits for ", own.rank, own.number, file.path, step.file->line);
  if (const Wait* wait = unmet(step)) {
    other = wait->lane;
    const BlockLane& awaited = lanes_.lanes[wait->lane];
    return text + fmt::format("thread block {} to pass line {}", awaited.number, awaited.steps[wait->step].file->line);
  }
  other = lanes_.connections[own.from].sender;
  return text + fmt::format("a message from gpu {}", lanes_.lanes[other].rank);
}

std::optional<Status> StepOrder::stuck(const File& file) const {
  std::uint32_t lane = 0;
  while (lane < passed_.size() && passed_[lane] == lanes_.lanes[lane].steps.size()) ++lane;
  if (lane == passed_.size()) return std::nullopt;
  // Whoever a stuck lane waits for is stuck as well, so that going on from one to the next meets one again: the ring.
  std::vector<bool> met(passed_.size());
  std::vector<std::uint32_t> path;
  for (std::uint32_t each = lane; !met[each];) {
    met[each] = true;
    path.push_back(each);
    static_cast<void>(describe(file, each, lane));
    each = lane;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), lane));
  constexpr std::size_t kMostTold = 8;
  std::string story;
  for (std::size_t each = 0; each < std::min(path.size(), kMostTold); ++each) {
    std::uint32_t other = 0;
    story += fmt::format("; {}", describe(file, path[each], other));
  }
  if (path.size() > kMostTold) story += fmt::format("; and {} more", path.size() - kMostTold);
  return wrong_at(file.path, lanes_.lanes[lane].steps[passed_[lane]].file->line,
                  fmt::format("found a deadlock, expected an order in which all steps can be done{}", story));
}

}  // namespace tutti::msccl
