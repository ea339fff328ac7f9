// SPDX-License-Identifier: Apache-2.0
// Sends and receives in virtual time. A message takes as long as it does alone on the fabric: what moves at the same
// time does not slow it. A receive begins when both ranks have started; a send takes what it takes if its receiver has
// started, since small ones are not waited for, and nothing tells which are small on the fabric.
//
// The sender tells the receiver when it has started, on the communicator that clocks travel by. There, what two ranks
// tell each other matches in the same order as what they send each other.
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

Result<VirtualTime::Moving*> VirtualTime::start(const Transfer& asked, const Operation* operation) {
  clocks_->take_over();
  forget_ended();
  auto added = std::make_unique<Moving>(Moving{.operation = operation,
                                               .is_send = asked.direction == Transfer::Direction::send,
                                               .peer = asked.peer,
                                               .bytes = asked.bytes(),
                                               .begin = clock_->now()});
  Moving& moving = *moving_.emplace_back(std::move(added));
  if (moving.peer == communicator_.rank()) return &moving;
  moving.stamp = std::bit_cast<std::uint64_t>(moving.begin);
  Transfer stamp;
  stamp.direction = asked.direction;
  stamp.peer = asked.peer;
  stamp.data = reinterpret_cast<std::byte*>(&moving.stamp);
  stamp.count = 1;
  stamp.type = Type::u64;
  const Result<Operation*> telling = clocks_->prepare(stamp, false);
  if (const Status status = telling.ok() ? clocks_->start(**telling) : telling.status(); !status.ok()) {
    if (telling.ok()) clocks_->release(**telling);
    moving_.pop_back();
    return break_both(status);
  }
  moving.telling = *telling;
  return &moving;
}

Status VirtualTime::run(std::span<const Transfer> asked) {
  return within_memory([&]() -> Status {
    std::vector<Moving*> all;
    for (const Transfer& each : asked) {
      TUTTI_TRY_ASSIGN(Moving * moving, start(each, nullptr));
      all.push_back(moving);
    }
    Status first;
    for (Moving* const each : all)
      if (Status status = end(*each); first.ok()) first = std::move(status);
    return first;
  });
}

Status VirtualTime::begin_in_group(const Transfer& asked) {
  return within_memory([&]() -> Status {
    TUTTI_TRY_ASSIGN(Moving * moving, start(asked, nullptr));
    moving->is_grouped = true;
    return {};
  });
}

Status VirtualTime::remember(const Transfer& asked, const Operation& operation) {
  return within_memory([&]() -> Status {
    made_[&operation] = asked;
    return {};
  });
}

VirtualTime::Moving* VirtualTime::find_moving(const Operation& operation) const {
  const auto found = std::find_if(moving_.begin(), moving_.end(),
                                  [&](const auto& each) { return each->operation == &operation && !each->is_over; });
  return found == moving_.end() ? nullptr : found->get();
}

bool VirtualTime::is_ready(const Moving& moving) {
  if (moving.is_send || moving.telling == nullptr || !moving.telling->is_active || is_broken()) return true;
  clocks_->take_over();
  const Result<bool> is_done = clocks_->test(*moving.telling);
  if (is_done.ok()) return *is_done;
  static_cast<void>(break_both(is_done.status()));
  return true;
}

Status VirtualTime::end(Moving& moving) {
  moving.is_over = true;
  if (moving.telling == nullptr) return {};
  clocks_->take_over();
  const std::uint32_t rank = communicator_.rank();
  if (moving.is_send) {
    const MessageTimes& times = message_times(rank, moving.peer, moving.bytes);
    TUTTI_TRY(times.status);
    clock_->reach(moving.begin + times.sender);
    return {};
  }
  TUTTI_TRY(await(*moving.telling));
  const MessageTimes& times = message_times(moving.peer, rank, moving.bytes);
  TUTTI_TRY(times.status);
  clock_->reach(std::max(moving.begin, std::bit_cast<double>(moving.stamp)) + times.receiver);
  return {};
}

// Whose end has been asked for, and whose receiver has been told.
void VirtualTime::forget_ended() {
  std::erase_if(moving_, [&](const std::unique_ptr<Moving>& each) {
    if (!each->is_over) return false;
    if (each->telling == nullptr) return true;
    if (each->telling->is_active) {
      const Result<bool> is_done = clocks_->test(*each->telling);
      if (!is_done.ok() || !*is_done) return false;
    }
    clocks_->release(*each->telling);
    return true;
  });
}

const VirtualTime::MessageTimes& VirtualTime::message_times(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  const auto key = std::tuple(from, to, bytes);
  if (const auto found = known_messages_.find(key); found != known_messages_.end()) return found->second;
  if (known_messages_.size() >= kMostKnownMessages) known_messages_.clear();
  return known_messages_.emplace(key, simulated(from, to, bytes)).first->second;
}

// A broadcast of two ranks is one message.
VirtualTime::MessageTimes VirtualTime::simulated(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const {
  fabric::Fabric two = fabric_;
  two.ranks = {fabric_.ranks[from], fabric_.ranks[to]};
  two.grid.clear();
  const Result<NamedAlgorithm> message = find_by_full_name(Collective::broadcast, "knomial(2)", 2);
  if (!message.ok()) return {.status = message.status()};
  const Result<simulate::Answer> answer = simulate::simulate(message->algorithm->make(message->request), two,
                                                             {.count = bytes, .element_size = 1, .in_place = true});
  if (!answer.ok())
    return {.status = {answer.status().code(), fmt::format("a message of {} on {}: {}", counted(bytes, "byte"),
                                                           fabric_.name, answer.status().message())}};
  return {.status = {}, .sender = answer->rank_times[0], .receiver = answer->rank_times[1]};
}

}  // namespace tutti::on_fabric
