// SPDX-License-Identifier: Apache-2.0
// What a program sends to one rank itself, and receives from one: transfers, over connections of their own, so that
// they wait for no collective and none for them. Transfers between two ranks in one direction keep their order.
//
// A transfer is cut into messages, or where it is long, and the other process's memory can be read, one message says
// where it lies. Belongs to one rank; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "data/type.hpp"
#include "runtime/communicator/statistics.hpp"
#include "runtime/execution/executor.hpp"
#include "transport/message.hpp"
#include "transport/shm/region.hpp"
#include "transport/shm/waiter.hpp"

namespace tutti {

// What is sent, beside each of its messages: so that both ends find out where they differ.
struct TransferDescription {
  std::uint64_t count = 0;  // elements, at most kMaxCount
  Type type = Type::f32;
  bool by_address = false;  // the message says where the data lie

  [[nodiscard]] constexpr std::uint64_t pack() const {
    return count | std::uint64_t{static_cast<std::uint8_t>(type)} << 40 | std::uint64_t{by_address ? 1U : 0U} << 34;
  }
  [[nodiscard]] static constexpr TransferDescription unpack(std::uint64_t word) {
    return {word & kMaxCount, static_cast<Type>((word >> 40) & 15), ((word >> 34) & 1) != 0};
  }
};

struct Transfer {
  enum class Direction : std::uint8_t { send, receive };
  Direction direction = Direction::send;
  std::uint32_t peer = 0;
  std::byte* data = nullptr;  // of a send it is only read
  std::uint64_t count = 0;    // elements
  Type type = Type::f32;

  // The owner of the transfers keeps the rest.
  std::uint64_t moved = 0;    // bytes
  bool is_announced = false;  // its first message, or its only one, is out
  bool is_done = true;
  Transfer* next = nullptr;

  [[nodiscard]] std::uint64_t bytes() const { return count * size_of(type); }
};

class Pairs {
 public:
  // Messages are spread over so many bytes of each connection (spread.hpp). The endpoint is null where all ranks are on
  // this host.
  Pairs(const shm::Region& region, std::uint32_t rank, const MachineProfile& profile, StoresChoice stores,
        const shm::SpreadOver& spread, transport::Endpoint* endpoint);

  // From so many bytes on a send says where its data lie. Until this is said, none does.
  void send_by_address_from(std::uint64_t bytes) { attach_min_ = bytes; }

  // The transfer stays where it is until it is done.
  void start(Transfer& transfer);
  // Goes on with all transfers as far as nothing has to be waited for: End::pending, or what is wrong.
  [[nodiscard]] End advance(const shm::Waiter& waiter);
  // Goes on with none that has been started, and none of them is ever done.
  void abandon();

  [[nodiscard]] bool is_idle() const { return num_pending_ == 0; }
  // Grows with every message that has been written or read.
  [[nodiscard]] std::uint64_t progress() const { return progress_; }
  // After End::mismatched: the receive, and what was sent to it.
  struct Mismatch {
    Transfer received;
    TransferDescription sent;
  };
  [[nodiscard]] const std::optional<Mismatch>& mismatch() const { return mismatch_; }
  // A pending transfer with a rank that has left and will not take part in it; null: there is none.
  [[nodiscard]] const Transfer* deserted() const;
  // Whether something is on its way between this rank and itself in the other direction of the transfer.
  [[nodiscard]] bool has_counterpart(const Transfer& transfer) const;

  // A row for each direction and reach that has been used.
  void append_statistics(std::vector<Statistic>& all) const;

 private:
  struct Count {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
  };
  struct Queue {
    Transfer* first = nullptr;
    Transfer* last = nullptr;
  };
  [[nodiscard]] Queue& queue_of(const Transfer& transfer) {
    return (transfer.direction == Transfer::Direction::send ? sends_ : receives_)[transfer.peer];
  }
  // Whether one message says where the data lie.
  [[nodiscard]] bool goes_by_address(const Transfer& transfer) const {
    return attach_min_ && transfer.bytes() >= *attach_min_;
  }
  [[nodiscard]] SlotStores& stores_to(std::uint32_t peer) {
    if (stores_[peer] == nullptr) [[unlikely]]
      stores_[peer] = std::make_unique<SlotStores>(new_stores_);
    return *stores_[peer];
  }
  // Of one message. Alike on both hosts, whatever their profiles say.
  [[nodiscard]] std::uint64_t most_of_message(const Transfer& transfer) const;
  // Whether the transfer is done.
  [[nodiscard]] bool advance_send(Transfer& transfer, const shm::Waiter& waiter);
  [[nodiscard]] End advance_receive(Transfer& transfer, const shm::Waiter& waiter);
  void finish_first(Queue& queue);
  [[nodiscard]] bool fetch(const Transfer& transfer, std::uint64_t address);

  const shm::Region& region_;
  std::uint32_t rank_;
  std::uint64_t message_most_;  // bytes: so few that the receiver copies one message out while the next is copied in
  SlotStores new_stores_;
  std::vector<std::unique_ptr<SlotStores>> stores_;  // by rank, since some are far; made at the first message
  std::optional<std::uint64_t> attach_min_;
  transport::Endpoint* endpoint_;
  Messages messages_;
  std::vector<Queue> sends_;     // by rank
  std::vector<Queue> receives_;  // by rank
  std::uint64_t num_pending_ = 0;
  std::array<std::array<Count, 2>, 2> counts_;  // by Direction, and by whether it goes by address
  std::uint64_t progress_ = 0;
  std::optional<Mismatch> mismatch_;
};

}  // namespace tutti
