// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/pairs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/plan/call.hpp"
#include "transport/shm/attach.hpp"

namespace tutti {

Pairs::Pairs(const shm::Region& region, std::uint32_t rank, const MachineProfile& profile, StoresChoice stores,
             const shm::SpreadOver& spread, transport::Endpoint* endpoint)
    : region_(region),
      rank_(rank),
      message_most_(profile.transfers_message_most),
      new_stores_(stores, profile, 2 * region.shape().message_depth),
      stores_(region.shape().num_ranks),
      endpoint_(endpoint),
      messages_(region, rank, endpoint, transport::Traffic::program, spread),
      sends_(region.shape().num_ranks),
      receives_(region.shape().num_ranks) {}

void Pairs::start(Transfer& transfer) {
  transfer.moved = 0;
  transfer.is_announced = false;
  transfer.is_done = false;
  transfer.next = nullptr;
  Queue& queue = queue_of(transfer);
  (queue.last == nullptr ? queue.first : queue.last->next) = &transfer;
  queue.last = &transfer;
  ++num_pending_;
  Count& count = counts_[static_cast<std::size_t>(transfer.direction)][goes_by_address(transfer) ? 1 : 0];
  ++count.calls;
  count.bytes += transfer.bytes();
}

void Pairs::finish_first(Queue& queue) {
  Transfer& done = *queue.first;
  queue.first = done.next;
  if (queue.first == nullptr) queue.last = nullptr;
  done.is_done = true;
  --num_pending_;
  ++progress_;
}

End Pairs::advance(const shm::Waiter& waiter) {
  if (num_pending_ == 0) return End::pending;
  if (endpoint_ != nullptr) endpoint_->step();
  do {
    for (std::uint32_t peer = 0; peer < sends_.size(); ++peer) {
      while (sends_[peer].first != nullptr && advance_send(*sends_[peer].first, waiter)) finish_first(sends_[peer]);
      while (receives_[peer].first != nullptr) {
        const End end = advance_receive(*receives_[peer].first, waiter);
        if (end == End::pending) break;
        if (end != End::done) return end;
        finish_first(receives_[peer]);
      }
    }
    // Who has received gives credits back before it does something else. What the step has brought may be what is
    // waited for: who sleeps now would not be woken by it.
  } while (endpoint_ != nullptr && endpoint_->step());
  return End::pending;
}

void Pairs::abandon() {
  std::fill(sends_.begin(), sends_.end(), Queue());
  std::fill(receives_.begin(), receives_.end(), Queue());
  num_pending_ = 0;
}

std::uint64_t Pairs::most_of_message(const Transfer& transfer) const {
  const std::uint64_t slot = region_.shape().message_slot;
  return region_.is_here(transfer.peer) ? std::min(message_most_, slot) : slot;
}

bool Pairs::advance_send(Transfer& transfer, const shm::Waiter& waiter) {
  MessageSender& sender = messages_.sender(transfer.peer);
  const std::uint64_t bytes = transfer.bytes();
  const bool by_address = goes_by_address(transfer);
  if (by_address && transfer.is_announced) return sender.is_drained();
  const std::uint64_t most = most_of_message(transfer);
  const std::uint64_t description = TransferDescription{transfer.count, transfer.type, by_address}.pack();
  while (!transfer.is_announced || transfer.moved < bytes) {
    if (!sender.has_credit()) return false;
    if (by_address) {
      const auto address = reinterpret_cast<std::uintptr_t>(transfer.data);
      std::memcpy(sender.slot(sizeof address), &address, sizeof address);
      transfer.moved = bytes;
      sender.publish(description);
    } else {
      const std::uint64_t length = std::min(most, bytes - transfer.moved);
      const std::byte* const data = transfer.data + transfer.moved;
      transfer.moved += length;
      if (sender.may_borrow(length)) {
        sender.publish_from(data, length, description);
      } else {
        if (length > 0) stores_to(transfer.peer).copy(sender.slot(length), data, length);
        sender.publish(description);
      }
    }
    waiter.wake_others();
    transfer.is_announced = true;
    ++progress_;
  }
  // To another host it is on its way before the caller goes on with something else.
  return !by_address && (region_.is_here(transfer.peer) || sender.has_sent());
}

End Pairs::advance_receive(Transfer& transfer, const shm::Waiter& waiter) {
  MessageReceiver& receiver = messages_.receiver(transfer.peer);
  const std::uint64_t bytes = transfer.bytes();
  const std::uint64_t most = most_of_message(transfer);
  do {
    if (!receiver.has_message()) return End::pending;
    const auto sent = TransferDescription::unpack(receiver.description());
    if (sent.count != transfer.count || sent.type != transfer.type) {
      mismatch_ = {transfer, sent};
      return End::mismatched;
    }
    if (sent.by_address) {
      std::uintptr_t address = 0;
      std::memcpy(&address, receiver.data(sizeof address), sizeof address);
      if (!fetch(transfer, address)) return End::broken;
      transfer.moved = bytes;
    } else if (const std::uint64_t length = std::min(most, bytes - transfer.moved); length > 0) {
      std::memcpy(transfer.data + transfer.moved, receiver.data(length), length);
      transfer.moved += length;
    }
    receiver.take();
    waiter.wake_others();
    ++progress_;
  } while (transfer.moved < bytes);
  return End::done;
}

bool Pairs::fetch(const Transfer& transfer, std::uint64_t address) {
  const auto process = static_cast<pid_t>(region_.call(transfer.peer).process.load(std::memory_order_relaxed));
  const shm::AttachEnd end = shm::read_from(process, address, transfer.data, transfer.bytes());
  // Where a communicator breaks, the sender may have gone on and changed what was being read.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (end == shm::AttachEnd::done) return !region_.is_broken();
  region_.break_with(shm::breakage_of(end, shm::Access::read, rank_, transfer.peer));
  return false;
}

void Pairs::append_statistics(std::vector<Statistic>& all) const {
  for (const Transfer::Direction direction : {Transfer::Direction::send, Transfer::Direction::receive})
    for (const Reach reach : {Reach::staged, Reach::attached}) {
      const Count& count = counts_[static_cast<std::size_t>(direction)][reach == Reach::attached ? 1 : 0];
      if (count.calls == 0) continue;
      all.push_back({.operation = direction == Transfer::Direction::send ? "send" : "receive",
                     .algorithm = "",
                     .reach = name_of(reach),
                     .calls = count.calls,
                     .bytes = count.bytes});
    }
}

const Transfer* Pairs::deserted() const {
  for (std::uint32_t peer = 0; peer < sends_.size(); ++peer) {
    // Acquire: what it has sent before it left is there.
    if (!region_.has_left(peer)) continue;
    // What a rank of another host has sent before it left has come to this one, and may lie behind other messages.
    for (int step = 0; step < transport::kStepsThatReadAll && !region_.is_here(peer); ++step) endpoint_->step();
    if (sends_[peer].first != nullptr) return sends_[peer].first;
    if (receives_[peer].first != nullptr && !messages_.receiver(peer).has_message()) return receives_[peer].first;
  }
  return nullptr;
}

bool Pairs::has_counterpart(const Transfer& transfer) const {
  return (transfer.direction == Transfer::Direction::send ? receives_ : sends_)[rank_].first != nullptr ||
         (transfer.direction == Transfer::Direction::receive && messages_.receiver(rank_).has_message());
}

}  // namespace tutti
