// SPDX-License-Identifier: Apache-2.0
// Messages from one rank: a queue for each kind of traffic, whose slots are posted as receives once the source has said
// hello, each for the message that belongs there. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/system/socket.hpp"
#include "transport/endpoint.hpp"
#include "transport/ofi/ring.hpp"
#include "transport/ofi/shared.hpp"
#include "transport/ofi/wire.hpp"

namespace tutti::transport::ofi {

// Messages below `taken` are done with; those below `received` have arrived. Those below `posted` have a receive, or
// had one. So the source may be told that the first `posted` - depth messages are taken. It has been told of `told`.
class IncomingQueue final : public Incoming {
 public:
  IncomingQueue(IncomingLink& link, const EndpointShape& shape) : link_(link), ring_(shape) {}

  [[nodiscard]] bool has_message() const override { return received_ > taken_; }
  [[nodiscard]] std::uint64_t description() const override { return ring_.entry(taken_).description; }
  [[nodiscard]] std::uint64_t bytes() const override { return ring_.entry(taken_).bytes; }
  [[nodiscard]] const std::byte* data() const override { return ring_.slot(taken_); }
  void take() override;

 private:
  friend class IncomingLink;

  IncomingLink& link_;
  Ring ring_;
  std::uint64_t received_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t told_ = 0;
};

class IncomingLink final : public Owner {
 public:
  IncomingLink(Shared& shared, std::uint32_t rank);
  // Messages to the same rank bring news of what it has taken, and so do its messages of what was sent to it.
  void set_way_back(OutgoingLink& way_back) { way_back_ = &way_back; }

  [[nodiscard]] IncomingQueue& queue(Traffic traffic) { return queues_[static_cast<std::size_t>(traffic)]; }

  void on_completion(const Completion& completion) override;
  // Whose key is right.
  void on_hello(const Control& control);
  void on_bye() {
    is_known_ = false;
    has_left_ = true;
    welcomes_.reset();
  }
  [[nodiscard]] bool has_left() const { return has_left_; }
  [[nodiscard]] bool is_known() const { return is_known_; }

  // Posts what is to be posted, and welcomes the source; false where it need not be asked again.
  bool go_on(Clock::time_point now, bool& any);
  // Tells the source all that may be told: of one that is on the list of those where it is due, or of those that owe.
  // True where it stays there.
  bool tell_due();
  bool tell_owed();

  // How much may be told, and that a message to the source has told it.
  [[nodiscard]] ByTraffic may_tell() const { return {may_tell(queues_[0]), may_tell(queues_[1])}; }
  void note_told(const ByTraffic& taken);
  void renew_patience(Clock::time_point now) {
    if (failing_since_) failing_since_ = now;
  }

 private:
  friend class IncomingQueue;

  [[nodiscard]] std::uint64_t may_tell(const IncomingQueue& queue) const {
    const std::uint64_t depth = shared_.options.shape.depth;
    return queue.posted_ < depth ? 0 : queue.posted_ - depth;
  }
  void post_more(IncomingQueue& queue);
  [[nodiscard]] bool post(IncomingQueue& queue, std::uint64_t number);
  void list_unposted();
  void note_credits(const IncomingQueue& queue);
  bool tell();
  bool use_message(IncomingQueue& queue, Ring::Entry& entry, std::size_t bytes);
  void note_failure(std::string_view words);

  Shared& shared_;
  const std::uint32_t rank_;
  const std::uint64_t key_;
  std::array<IncomingQueue, kNumTraffics> queues_;
  OutgoingLink* way_back_ = nullptr;
  bool is_known_ = false;  // it has said hello, and not bye
  bool has_left_ = false;
  std::optional<std::uint32_t> welcomes_{};  // the attempt that waits for an answer
  bool is_unposted_ = false;                 // on the lists of Shared
  bool is_owing_ = false;
  bool is_due_ = false;
  bool is_telling_ = false;                           // credits are with the provider
  std::optional<Clock::time_point> failing_since_{};  // that control records to it fail
  Clock::time_point again_{};                         // when the next is tried
};

}  // namespace tutti::transport::ofi
