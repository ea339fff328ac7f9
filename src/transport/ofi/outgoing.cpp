// SPDX-License-Identifier: Apache-2.0
#include "transport/ofi/outgoing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/units.hpp"
#include "transport/ofi/incoming.hpp"

namespace tutti::transport::ofi {
namespace {

constexpr std::chrono::nanoseconds kFirstPause = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kLongestPause = std::chrono::milliseconds(100);

}  // namespace

std::byte* OutgoingQueue::slot(std::uint64_t bytes) {
  TUTTI_ASSERT(bytes <= shape_.slot, "a message must fit a slot");
  link_.reserve(*this);
  bytes_ = bytes;
  return ring_.slot(published_);
}

void OutgoingQueue::publish(std::uint64_t description) {
  TUTTI_ASSERT_SLOW(has_credit(), "a message needs a credit");
  link_.reserve(*this);
  Ring::Entry& entry = ring_.entry(published_);
  entry.number = published_;
  entry.description = description;
  entry.bytes = static_cast<std::uint32_t>(std::exchange(bytes_, 0));
  ++published_;
  link_.on_publish();
}

OutgoingLink::OutgoingLink(Shared& shared, std::uint32_t rank, IncomingLink& way_back)
    : shared_(shared),
      rank_(rank),
      key_(shared.key_to(rank)),
      way_back_(way_back),
      queues_{OutgoingQueue(*this, shared.options.shape), OutgoingQueue(*this, shared.options.shape)} {}

void OutgoingLink::reserve(OutgoingQueue& queue) {
  if (queue.ring_.is_reserved()) return;
  const auto traffic = static_cast<std::uint32_t>(&queue - queues_.data());
  const Status reserved = queue.ring_.reserve(*shared_.fabric, *this, traffic);
  if (reserved.ok()) return;
  state_ = State::failed;
  shared_.give_up(rank_, fmt::format("libfabric cannot send from this rank's memory: {}", reserved.message()));
}

void OutgoingLink::on_publish() {
  ++shared_.unsent;
  if (state_ == State::open) {
    if (has_left_) return break_off("it has left");
    if (!is_waiting_) send();
  } else if (state_ == State::closed) {
    state_ = State::saying_hello;
    pause_ = kFirstPause;
    if (!say_hello()) wait();
  }
}

void OutgoingLink::wait() {
  if (!std::exchange(is_waiting_, true)) shared_.waiting.push_back(this);
}

bool OutgoingLink::is_with_provider() const {
  return hellos_ > 0 ||
         std::any_of(queues_.begin(), queues_.end(), [](const OutgoingQueue& queue) { return queue.in_flight_ > 0; });
}

void OutgoingLink::set_handed(OutgoingQueue& queue, std::uint64_t handed) {
  shared_.unsent += queue.handed_ - handed;
  queue.handed_ = handed;
}

// What failed is tried again, once the provider has nothing of it.
bool OutgoingLink::go_on(Clock::time_point now, bool& any) {
  if (state_ == State::broken) {
    if (now - *broken_since_ >= shared_.options.restore_within) {
      break_off("");
    } else if (!has_left_ && now >= due_ && !is_with_provider()) {
      state_ = State::saying_hello;
    }
  }
  if (state_ == State::saying_hello) any = say_hello() || any;
  if (state_ == State::open) any = send() || any;
  const bool has_more = std::any_of(queues_.begin(), queues_.end(),
                                    [](const OutgoingQueue& queue) { return queue.handed_ != queue.published_; });
  is_waiting_ = state_ == State::broken || state_ == State::saying_hello || (state_ == State::open && has_more);
  return is_waiting_;
}

// True where the provider has it.
bool OutgoingLink::say_hello() {
  const EndpointShape& shape = shared_.options.shape;
  std::string why;
  const Begun begun = shared_.send_control(
      rank_, {.kind = ControlKind::hello, .attempt = attempt_ + 1, .first = {shape.depth, shape.slot}}, *this, why);
  if (begun == Begun::failed) break_off(std::move(why));
  if (begun != Begun::yes) return false;
  state_ = State::greeting;
  ++attempt_;
  ++hellos_;
  return true;
}

void OutgoingLink::on_welcome(const Control& control) {
  if (state_ != State::greeting || control.attempt != attempt_) return;
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    const OutgoingQueue& queue = queues_[i];
    const bool is_possible =
        control.first[i] >= std::max(queue.taken_, control.taken[i]) && control.first[i] <= queue.published_;
    if (!is_possible) return break_off("it says that it has what it was not sent");
  }
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    queues_[i].taken_ = std::max(queues_[i].taken_, control.taken[i]);
    set_handed(queues_[i], control.first[i]);
  }
  state_ = State::open;
  broken_since_.reset();
  pause_ = kFirstPause;
  if (!is_waiting_) send();
}

// Both kinds of traffic in turn.
bool OutgoingLink::send() {
  bool any = false;
  while (state_ == State::open) {
    if (queues_[traffic_].handed_ == queues_[traffic_].published_) traffic_ = (traffic_ + 1) % kNumTraffics;
    OutgoingQueue& queue = queues_[traffic_];
    if (queue.handed_ == queue.published_) break;
    std::string why;
    const Begun begun = send_next(queue, traffic_, why);
    if (begun == Begun::failed) break_off(std::move(why));
    if (begun == Begun::later) wait();
    if (begun != Begun::yes) break;
    traffic_ = (traffic_ + 1) % kNumTraffics;
    any = true;
  }
  return any;
}

Begun OutgoingLink::send_next(OutgoingQueue& queue, std::uint32_t traffic, std::string& why) {
  const std::uint64_t number = queue.handed_;
  Ring::Entry& entry = queue.ring_.entry(number);
  const std::span<std::byte> raw = queue.ring_.message(number, entry.bytes);
  const ByTraffic taken_back = way_back_.may_tell();
  encode(Header{.key = key_,
                .number = number,
                .description = entry.description,
                .taken_back = {static_cast<std::uint32_t>(taken_back[0]), static_cast<std::uint32_t>(taken_back[1])},
                .bytes = entry.bytes,
                .traffic = traffic},
         raw.first<kHeaderBytes>());
  const Result<fi_addr_t> address = shared_.address_of(rank_);
  if (!address.ok()) {
    why = address.status().message();
    return Begun::failed;
  }
  const std::uint64_t tag = shared_.tags.of_message(shared_.options.rank, traffic, entry.operation.slot);
  std::int64_t error = 0;
  const Begun begun = shared_.fabric->send(raw, queue.ring_.descriptor(), *address, tag, entry.operation, error);
  if (begun == Begun::failed) why = shared_.fabric->words_of(error);
  if (begun != Begun::yes) return begun;
  entry.is_with_provider = true;
  ++queue.handed_;
  ++queue.in_flight_;
  way_back_.note_told(taken_back);
  return begun;
}

void OutgoingLink::on_completion(const Completion& completion) {
  if (completion.operation->is_control) {
    // A bye has nobody who waits for it.
    if (completion.operation->traffic != static_cast<std::uint32_t>(ControlKind::hello)) return;
    --hellos_;
    if (completion.error != 0 && state_ == State::greeting) break_off(shared_.fabric->words_of(completion.error));
    return;
  }
  OutgoingQueue& queue = queues_[completion.operation->traffic];
  queue.ring_.entry(completion.operation->slot).is_with_provider = false;
  --queue.in_flight_;
  --shared_.unsent;
  if (completion.error != 0 && state_ == State::open) break_off(shared_.fabric->words_of(completion.error));
}

// What has arrived nobody knows now.
void OutgoingLink::break_off(std::string words) {
  const Clock::time_point now = Clock::now();
  if (!words.empty()) trouble_ = std::move(words);
  if (!broken_since_) broken_since_ = now;
  for (OutgoingQueue& queue : queues_) set_handed(queue, queue.taken_);
  if (now - *broken_since_ >= shared_.options.restore_within) {
    state_ = State::failed;
    const auto tried = std::chrono::duration_cast<std::chrono::milliseconds>(now - *broken_since_);
    shared_.give_up(rank_, fmt::format("rank {} could not be reached by libfabric's provider {} for {}: {}", rank_,
                                       shared_.fabric->provider(),
                                       to_text(Nanos(std::chrono::nanoseconds(tried).count())), trouble_));
    return;
  }
  state_ = State::broken;
  due_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
  wait();
}

// What it has not taken it will never take.
void OutgoingLink::on_bye() {
  if (state_ == State::failed || std::exchange(has_left_, true)) return;
  const bool has_all = std::all_of(queues_.begin(), queues_.end(),
                                   [](const OutgoingQueue& queue) { return queue.handed_ == queue.published_; });
  if (state_ != State::closed && !has_all) break_off("it has left");
}

void OutgoingLink::on_taken(const ByTraffic& taken) {
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    OutgoingQueue& queue = queues_[i];
    if (taken[i] <= queue.taken_ || taken[i] > queue.published_) continue;
    queue.taken_ = taken[i];
    if (queue.handed_ < queue.taken_) set_handed(queue, queue.taken_);
  }
}

void OutgoingLink::use_taken(const std::array<std::uint32_t, kNumTraffics>& low_bits) {
  ByTraffic taken{};
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    const std::uint32_t more = low_bits[i] - static_cast<std::uint32_t>(queues_[i].taken_);
    // An older number: credits have overtaken it.
    taken[i] = queues_[i].taken_ + (more > std::numeric_limits<std::uint32_t>::max() / 2 ? 0 : more);
  }
  on_taken(taken);
}

}  // namespace tutti::transport::ofi
