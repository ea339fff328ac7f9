// SPDX-License-Identifier: Apache-2.0
#include "transport/striped/endpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <sys/epoll.h>

#include "base/assert.hpp"
#include "base/system/socket.hpp"
#include "base/system/take_fd.hpp"
#include "base/system/unique_fd.hpp"
#include "transport/striped/queues.hpp"

namespace tutti::transport::striped {
namespace {

// A part that was idle for kIdleSteps steps is asked in every kTurnsOfIdle-th step, unless it was the last busy one. So
// short messages, which stay on one part, are not slowed down by the others. Who has slept, or has not stepped for
// kLongestGap, asks all.
constexpr std::uint32_t kIdleSteps = 256;
constexpr std::uint32_t kTurnsOfIdle = 8;
constexpr std::chrono::nanoseconds kLongestGap = std::chrono::milliseconds(1);
// Steps of an idle part that are enough of the steps that read all for a part itself, which has turns of its own.
static_assert(kStepsThatReadAll / kTurnsOfIdle >= 32);

class StripedEndpoint final : public Endpoint {
 public:
  explicit StripedEndpoint(std::vector<std::unique_ptr<Endpoint>> parts)
      : parts_(std::move(parts)),
        long_from_(std::max<std::uint64_t>(parts_.front()->shape().slot / kPartOfSlot, 1)),
        idle_(parts_.size()) {}

  // Watches the descriptors of all parts as one.
  [[nodiscard]] Status open() {
    TUTTI_TRY_ASSIGN(all_, watch_all([](const Endpoint& part) { return part.descriptor(); }));
    TUTTI_TRY_ASSIGN(trouble_, watch_all([](const Endpoint& part) { return part.trouble_descriptor(); }));
    return {};
  }

  [[nodiscard]] const EndpointShape& shape() const override { return parts_.front()->shape(); }
  [[nodiscard]] Outgoing& to(std::uint32_t rank, Traffic traffic) override {
    return queue_of<Outgoing>(outgoing_[{rank, traffic}], [&](Endpoint& part) { return &part.to(rank, traffic); });
  }
  [[nodiscard]] Incoming& from(std::uint32_t rank, Traffic traffic) override {
    return queue_of<Incoming>(incoming_[{rank, traffic}], [&](Endpoint& part) { return &part.from(rank, traffic); });
  }

  bool step() override {
    bool any = false;
    const auto now = std::chrono::steady_clock::now();
    if (now - std::exchange(last_step_, now) > kLongestGap) forget_idleness();
    const bool is_turn_of_idle = ++steps_ % kTurnsOfIdle == 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i != last_busy_ && idle_[i] >= kIdleSteps && !is_turn_of_idle) continue;
      const bool is_busy = parts_[i]->step();
      idle_[i] = is_busy ? 0 : idle_[i] + 1;
      if (is_busy) last_busy_ = i;
      any = is_busy || any;
    }
    return any;
  }
  void sleep(std::chrono::nanoseconds longest) override { await_readable(all_.get(), may_sleep(longest)); }
  [[nodiscard]] std::chrono::nanoseconds may_sleep(std::chrono::nanoseconds longest) override {
    forget_idleness();
    for (const std::unique_ptr<Endpoint>& part : parts_) longest = std::min(longest, part->may_sleep(longest));
    return longest;
  }
  [[nodiscard]] int descriptor() const override { return all_.get(); }
  [[nodiscard]] int trouble_descriptor() const override { return trouble_.get(); }
  [[nodiscard]] bool is_connecting() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->is_connecting(); });
  }
  void renew_patience(const std::function<bool(std::uint32_t rank)>& matters) override {
    for (const std::unique_ptr<Endpoint>& part : parts_) part->renew_patience(matters);
  }
  void forsake() noexcept override {
    for (const std::unique_ptr<Endpoint>& part : parts_) part->forsake();
    all_.reset();
    trouble_.reset();
  }

  [[nodiscard]] bool has_sent_all() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->has_sent_all(); });
  }
  [[nodiscard]] bool has_delivered(std::uint32_t rank) const override {
    return std::all_of(parts_.begin(), parts_.end(), [rank](const auto& part) { return part->has_delivered(rank); });
  }
  // Without one of its connections a rank cannot be reached.
  [[nodiscard]] const std::optional<Unreachable>& unreachable() const override { return first_lost()->unreachable(); }
  // Its other connections will say the same of it.
  void forget_unreachable() override {
    const std::optional<Unreachable> lost = unreachable();
    for (const std::unique_ptr<Endpoint>& part : parts_)
      if (lost && part->unreachable() && part->unreachable()->rank == lost->rank) part->forget_unreachable();
  }

 private:
  template <typename Queue, typename Striped, typename QueueOfPart>
  [[nodiscard]] Striped& queue_of(std::unique_ptr<Striped>& found, const QueueOfPart& queue_of_part) {
    if (found != nullptr) return *found;
    std::vector<Queue*> queues;
    for (const std::unique_ptr<Endpoint>& part : parts_) queues.push_back(queue_of_part(*part));
    found = std::make_unique<Striped>(std::move(queues), long_from_);
    return *found;
  }
  // Readable where any of these is.
  template <typename DescriptorOf>
  [[nodiscard]] Result<UniqueFd> watch_all(const DescriptorOf& descriptor_of) const {
    UniqueFd all = take_fd(epoll_create1(EPOLL_CLOEXEC));
    if (!all.valid()) return Status::from_errno("cannot watch connections", errno);
    for (const std::unique_ptr<Endpoint>& part : parts_) {
      epoll_event event{};
      event.events = EPOLLIN;
      if (const int descriptor = descriptor_of(*part);
          descriptor >= 0 && epoll_ctl(all.get(), EPOLL_CTL_ADD, descriptor, &event) != 0)
        return Status::from_errno("cannot watch connections", errno);
    }
    return all;
  }
  void forget_idleness() { std::fill(idle_.begin(), idle_.end(), 0); }

  using Key = std::pair<std::uint32_t, Traffic>;

  [[nodiscard]] const Endpoint* first_lost() const {
    const auto has_lost = [](const auto& part) { return part->unreachable().has_value(); };
    const auto found = std::find_if(parts_.begin(), parts_.end(), has_lost);
    return found == parts_.end() ? parts_.front().get() : found->get();
  }

  // Before the queues, which have those of the parts.
  std::vector<std::unique_ptr<Endpoint>> parts_;
  std::uint64_t long_from_;
  std::vector<std::uint32_t> idle_;  // steps, of each part
  std::size_t last_busy_ = 0;
  std::uint32_t steps_ = 0;
  std::chrono::steady_clock::time_point last_step_{};
  UniqueFd all_{};
  UniqueFd trouble_{};
  std::map<Key, std::unique_ptr<StripedOutgoing>> outgoing_{};
  std::map<Key, std::unique_ptr<StripedIncoming>> incoming_{};
};

}  // namespace

Result<std::unique_ptr<Endpoint>> make_striped_endpoint(std::vector<std::unique_ptr<Endpoint>> parts) {
  TUTTI_ASSERT(!parts.empty(), "what is striped has parts");
  if (parts.size() == 1) return std::move(parts.front());
  auto endpoint = std::make_unique<StripedEndpoint>(std::move(parts));
  TUTTI_TRY(endpoint->open());
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

}  // namespace tutti::transport::striped
