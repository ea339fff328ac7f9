// SPDX-License-Identifier: Apache-2.0
#include "transport/ofi/incoming.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <rdma/fi_errno.h>

#include "base/units.hpp"
#include "transport/ofi/outgoing.hpp"

namespace tutti::transport::ofi {
namespace {

constexpr std::chrono::nanoseconds kPauseAfterFailure = std::chrono::milliseconds(10);

}  // namespace

void IncomingQueue::take() {
  TUTTI_ASSERT_SLOW(has_message(), "only a message that is there can be taken");
  ++taken_;
  link_.post_more(*this);
  link_.note_credits(*this);
}

IncomingLink::IncomingLink(Shared& shared, std::uint32_t rank)
    : shared_(shared),
      rank_(rank),
      key_(shared.key_from(rank)),
      queues_{IncomingQueue(*this, shared.options.shape), IncomingQueue(*this, shared.options.shape)} {}

void IncomingLink::list_unposted() {
  if (!std::exchange(is_unposted_, true)) shared_.unposted.push_back(this);
}

// Receives.

bool IncomingLink::post(IncomingQueue& queue, std::uint64_t number) {
  Ring::Entry& entry = queue.ring_.entry(number);
  entry.number = number;
  entry.has_arrived = false;
  const std::uint64_t tag = shared_.tags.of_message(rank_, entry.operation.traffic, entry.operation.slot);
  std::int64_t error = 0;
  const Begun begun =
      shared_.fabric->receive(queue.ring_.whole(number), queue.ring_.descriptor(), tag, 0, entry.operation, error);
  entry.is_with_provider = begun == Begun::yes;
  if (begun == Begun::failed)
    shared_.give_up(rank_, fmt::format("libfabric cannot receive from it: {}", shared_.fabric->words_of(error)));
  return entry.is_with_provider;
}

// One for each slot that is free, and those that failed. Once one is refused, the rest come later.
void IncomingLink::post_more(IncomingQueue& queue) {
  if (!queue.ring_.is_reserved()) return;
  for (std::uint64_t number = queue.received_; number < queue.posted_; ++number) {
    const Ring::Entry& entry = queue.ring_.entry(number);
    if (!entry.is_with_provider && !entry.has_arrived && !post(queue, number)) return list_unposted();
  }
  for (; queue.posted_ < queue.taken_ + shared_.options.shape.depth; ++queue.posted_)
    if (!post(queue, queue.posted_)) return list_unposted();
}

void IncomingLink::on_hello(const Control& control) {
  is_known_ = true;
  welcomes_ = control.attempt;
  for (std::uint32_t traffic = 0; traffic < kNumTraffics; ++traffic) {
    const Status reserved = queues_[traffic].ring_.reserve(*shared_.fabric, *this, traffic);
    if (reserved.ok()) continue;
    return shared_.give_up(rank_,
                           fmt::format("libfabric cannot receive in this rank's memory: {}", reserved.message()));
  }
  list_unposted();
}

bool IncomingLink::go_on(Clock::time_point now, bool& any) {
  is_unposted_ = false;
  for (IncomingQueue& queue : queues_) post_more(queue);
  if (welcomes_ && !is_unposted_ && now >= again_) {
    Control welcome{.kind = ControlKind::welcome, .attempt = *welcomes_};
    for (std::size_t i = 0; i < kNumTraffics; ++i) {
      welcome.first[i] = queues_[i].received_;
      welcome.taken[i] = may_tell(queues_[i]);
    }
    std::string why;
    const Begun begun = shared_.send_control(rank_, welcome, *this, why);
    if (begun == Begun::failed) note_failure(why);
    if (begun == Begun::yes) {
      any = true;
      welcomes_.reset();
      for (std::size_t i = 0; i < kNumTraffics; ++i) queues_[i].told_ = welcome.taken[i];
    }
  }
  for (const IncomingQueue& queue : queues_) note_credits(queue);
  is_unposted_ = is_unposted_ || welcomes_.has_value();
  return is_unposted_;
}

void IncomingLink::on_completion(const Completion& completion) {
  if (completion.operation->is_control) {
    if (completion.operation->traffic == static_cast<std::uint32_t>(ControlKind::credits)) is_telling_ = false;
    if (completion.error == 0) return failing_since_.reset();
    if (completion.operation->traffic == static_cast<std::uint32_t>(ControlKind::bye)) return;
    note_failure(shared_.fabric->words_of(completion.error));
    // The next says the same, and more. A welcome that is lost is asked for again by who finds no answer: its hello
    // fails as well.
    for (IncomingQueue& queue : queues_) {
      queue.told_ = 0;
      note_credits(queue);
    }
    return;
  }
  IncomingQueue& queue = queues_[completion.operation->traffic];
  Ring::Entry& entry = queue.ring_.entry(completion.operation->slot);
  entry.is_with_provider = false;
  if (completion.error == FI_ECANCELED) return;
  if (completion.error != 0 || !use_message(queue, entry, completion.bytes)) {
    if (!post(queue, entry.number)) list_unposted();
    return;
  }
  entry.has_arrived = true;
  while (queue.received_ < queue.posted_ && queue.ring_.entry(queue.received_).has_arrived) ++queue.received_;
  note_credits(queue);
}

// False for what is none of the source's: somebody else's, or one that has come before.
bool IncomingLink::use_message(IncomingQueue& queue, Ring::Entry& entry, std::size_t bytes) {
  const std::span<const std::byte> raw = queue.ring_.whole(entry.number);
  const bool has_header = bytes >= kHeaderBytes;
  const Header header = has_header ? decode_header(raw.first<kHeaderBytes>()) : Header();
  if (!has_header || header.key != key_) {
    shared_.warn("somebody who does not know the token of this communicator sends messages to it; they are ignored");
    return false;
  }
  if (header.number != entry.number || header.traffic != entry.operation.traffic ||
      header.bytes != bytes - kHeaderBytes)
    return false;
  entry.description = header.description;
  entry.bytes = header.bytes;
  if (way_back_ != nullptr) way_back_->use_taken(header.taken_back);
  return true;
}

// Credits.

// Half of the depth is told soon. So is the last credit without which the source can send nothing. What stays owed
// leaves the source more than half of the depth.
void IncomingLink::note_credits(const IncomingQueue& queue) {
  const std::uint64_t taken = may_tell(queue);
  if (!is_known_ || taken <= queue.told_) return;
  const std::uint64_t depth = shared_.options.shape.depth;
  const bool is_due =
      taken - queue.told_ >= std::max<std::uint64_t>(depth / 2, 1) || queue.received_ - queue.told_ >= depth;
  if (is_due && !std::exchange(is_due_, true)) shared_.due.push_back(this);
  if (!std::exchange(is_owing_, true)) shared_.owing.push_back(this);
}

void IncomingLink::note_told(const ByTraffic& taken) {
  for (std::size_t i = 0; i < kNumTraffics; ++i) queues_[i].told_ = std::max(queues_[i].told_, taken[i]);
}

bool IncomingLink::tell_due() {
  is_due_ = !tell();
  return is_due_;
}

bool IncomingLink::tell_owed() {
  is_owing_ = !tell();
  return is_owing_;
}

// True where nothing is owed any more.
bool IncomingLink::tell() {
  const ByTraffic taken = may_tell();
  const bool is_told = queues_[0].told_ >= taken[0] && queues_[1].told_ >= taken[1];
  if (!is_known_ || is_told) return true;
  // One record at a time: so the other end, which may not step for long, has a receive for it.
  if (is_telling_ || (failing_since_ && Clock::now() < again_)) return false;
  std::string why;
  const Begun begun = shared_.send_control(rank_, {.kind = ControlKind::credits, .taken = taken}, *this, why);
  if (begun == Begun::failed) note_failure(why);
  if (begun != Begun::yes) return !is_known_;
  is_telling_ = true;
  note_told(taken);
  return true;
}

// A rank that cannot be told anything for long is lost.
void IncomingLink::note_failure(std::string_view words) {
  const Clock::time_point now = Clock::now();
  if (!failing_since_) failing_since_ = now;
  again_ = now + kPauseAfterFailure;
  if (!is_known_ || now - *failing_since_ < shared_.options.restore_within) return;
  is_known_ = false;
  welcomes_.reset();
  const auto tried = std::chrono::duration_cast<std::chrono::milliseconds>(now - *failing_since_);
  shared_.give_up(
      rank_, fmt::format("rank {} could not be answered by libfabric's provider {} for {}: {}", rank_,
                         shared_.fabric->provider(), to_text(Nanos(std::chrono::nanoseconds(tried).count())), words));
}

}  // namespace tutti::transport::ofi
