// SPDX-License-Identifier: Apache-2.0
// Sends and receives in virtual time. A message takes as long as it does alone on the fabric: what moves at the same
// time does not slow it. A receive begins when both ranks have started; a send takes what it takes if its receiver has
// started, since small ones are not waited for, and nothing tells which are small on the fabric.
//
// The sender's clock travels to the receiver on the communicator for clocks. There, clocks between two ranks keep the
// order of their messages, and wait no longer than these. A send ends only once its clock is in flight, because the
// sender may then not call the library for long.
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "base/counted.hpp"
#include "on_fabric/virtual_time.hpp"
#include "simulate/simulate.hpp"

namespace tutti::on_fabric {

namespace {

// Times of so many different messages are kept.
constexpr std::size_t kMostKnownMessages = 4096;

}  // namespace

Status VirtualTime::start(const Transfer& asked, Moving& moving) {
  moving = {.is_send = asked.direction == Transfer::Direction::send,
            .peer = asked.peer,
            .bytes = asked.bytes(),
            .begin = clock_->now()};
  if (moving.peer == communicator_.rank()) return {};
  moving.stamp = std::bit_cast<std::uint64_t>(moving.begin);
  Transfer stamp;
  stamp.direction = asked.direction;
  stamp.peer = asked.peer;
  stamp.data = reinterpret_cast<std::byte*>(&moving.stamp);
  stamp.count = 1;
  stamp.type = Type::u64;
  const Result<Operation*> telling = clocks_->prepare(stamp, false);
  if (!telling.ok()) return break_both(telling.status());
  if (const Status status = clocks_->start(**telling); !status.ok()) {
    clocks_->release(**telling);
    return break_both(status);
  }
  moving.telling = *telling;
  return {};
}

Status VirtualTime::begin_in_group(const Transfer& asked) {
  return within_memory([&] { return start(asked, grouped_.emplace_back()); });
}

Status VirtualTime::remember(const Transfer& asked, Operation& operation) { return remember_as(asked, operation); }

Status VirtualTime::end(Moving& moving) {
  if (moving.telling == nullptr) return {};
  TUTTI_TRY(await(*moving.telling));
  clocks_->release(*std::exchange(moving.telling, nullptr));
  const std::uint32_t rank = communicator_.rank();
  const MessageTimes& times =
      moving.is_send ? message_times(rank, moving.peer, moving.bytes) : message_times(moving.peer, rank, moving.bytes);
  TUTTI_TRY(times.status);
  clock_->reach(moving.is_send ? moving.begin + times.sender
                               : std::max(moving.begin, std::bit_cast<double>(moving.stamp)) + times.receiver);
  return {};
}

const VirtualTime::MessageTimes& VirtualTime::message_times(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  const auto key = std::tuple(from, to, bytes);
  if (const auto found = known_messages_.find(key); found != known_messages_.end()) return found->second;
  if (known_messages_.size() >= kMostKnownMessages) known_messages_.clear();
  return known_messages_.emplace(key, simulated(from, to, bytes)).first->second;
}

// A broadcast of two ranks is one message. The library also sends a message for 0 bytes.
VirtualTime::MessageTimes VirtualTime::simulated(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  if (!two_) {
    two_ = *fabric_;
    two_->grid.clear();
  }
  two_->ranks = {fabric_->ranks[from], fabric_->ranks[to]};
  const Result<NamedAlgorithm> message = find_by_full_name(Collective::broadcast, "knomial(2)", 2);
  if (!message.ok()) return {.status = message.status()};
  const Result<simulate::Answer> answer =
      simulate::simulate(message->algorithm->make(message->request), *two_,
                         {.count = std::max<std::uint64_t>(bytes, 1), .element_size = 1, .in_place = true});
  if (!answer.ok())
    return {.status = {answer.status().code(), fmt::format("a message of {} on {}: {}", counted(bytes, "byte"),
                                                           fabric_->name, answer.status().message())}};
  return {.status = {}, .sender = answer->rank_times[0], .receiver = answer->rank_times[1]};
}

}  // namespace tutti::on_fabric
