// SPDX-License-Identifier: Apache-2.0
#include "transport/faulty/endpoint.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "transport/faulty/incoming.hpp"
#include "transport/faulty/outgoing.hpp"

namespace tutti::transport::faulty {
namespace {

// While something is late: time is counted in steps, and somebody has to make them.
constexpr std::chrono::nanoseconds kLongestNap = std::chrono::microseconds(20);

class FaultyEndpoint final : public Endpoint {
 public:
  FaultyEndpoint(Endpoint& real, std::unique_ptr<Endpoint> owned, const Faults& faults)
      : owned_(std::move(owned)), real_(real), chance_(faults) {}

  [[nodiscard]] const EndpointShape& shape() const override { return real_.shape(); }
  [[nodiscard]] Outgoing& to(std::uint32_t rank, Traffic traffic) override {
    std::unique_ptr<FaultyOutgoing>& found = outgoing_[{rank, traffic}];
    if (found == nullptr) {
      found = std::make_unique<FaultyOutgoing>(real_.to(rank, traffic), real_.shape().depth, chance_);
      if (cut_ == rank) found->cut();
    }
    return *found;
  }
  [[nodiscard]] Incoming& from(std::uint32_t rank, Traffic traffic) override {
    std::unique_ptr<FaultyIncoming>& found = incoming_[{rank, traffic}];
    if (found == nullptr) {
      found = std::make_unique<FaultyIncoming>(real_.from(rank, traffic), chance_);
      if (cut_ == rank) found->cut();
    }
    return *found;
  }

  bool step() override {
    chance_.count_step();
    if (is_blind()) return false;
    blind_until_ = chance_.due(chance_.faults().blind);
    if (is_blind()) return false;
    // What the real endpoint has seen shows here, or later.
    static_cast<void>(real_.step());
    bool any = false;
    if (!cut_ && chance_.is_to_cut()) any = cut_one();
    for (const auto& [key, queue] : outgoing_) any = queue->step() || any;
    for (const auto& [key, queue] : incoming_) any = queue->step() || any;
    return any;
  }
  void sleep(std::chrono::nanoseconds longest) override { real_.sleep(nap(longest)); }
  [[nodiscard]] std::chrono::nanoseconds may_sleep(std::chrono::nanoseconds longest) override {
    return real_.may_sleep(nap(longest));
  }
  [[nodiscard]] int descriptor() const override { return real_.descriptor(); }
  [[nodiscard]] int trouble_descriptor() const override { return real_.trouble_descriptor(); }
  [[nodiscard]] bool is_connecting() const override { return real_.is_connecting(); }
  void renew_patience(const std::function<bool(std::uint32_t rank)>& matters) override {
    real_.renew_patience(matters);
  }
  void forsake() noexcept override { real_.forsake(); }

  [[nodiscard]] bool has_sent_all() const override { return !is_holding() && real_.has_sent_all(); }
  [[nodiscard]] bool has_delivered(std::uint32_t rank) const override {
    return cut_ == rank || (!is_holding() && real_.has_delivered(rank));
  }
  [[nodiscard]] const std::optional<Unreachable>& unreachable() const override {
    return lost_ ? lost_ : real_.unreachable();
  }
  void forget_unreachable() override {
    if (lost_)
      lost_.reset();
    else
      real_.forget_unreachable();
  }

 private:
  using Key = std::pair<std::uint32_t, Traffic>;

  // Of the ranks that messages have gone to or come from.
  bool cut_one() {
    std::set<std::uint32_t> ranks;
    for (const auto& [key, queue] : outgoing_) ranks.insert(key.first);
    for (const auto& [key, queue] : incoming_) ranks.insert(key.first);
    cut_ = *std::next(ranks.begin(), static_cast<std::ptrdiff_t>(chance_.one_of(ranks.size())));
    lost_ = {*cut_, fmt::format("it was cut off after {} messages", chance_.faults().cut_after)};
    for (const auto& [key, queue] : outgoing_)
      if (key.first == *cut_) queue->cut();
    for (const auto& [key, queue] : incoming_)
      if (key.first == *cut_) queue->cut();
    return true;
  }

  [[nodiscard]] bool is_blind() const { return blind_until_ > chance_.now(); }
  [[nodiscard]] bool is_holding() const {
    return std::any_of(outgoing_.begin(), outgoing_.end(), [](const auto& each) { return each.second->is_holding(); });
  }
  [[nodiscard]] bool is_late() const {
    const auto is = [](const auto& each) { return each.second->is_late(); };
    return is_blind() || std::any_of(outgoing_.begin(), outgoing_.end(), is) ||
           std::any_of(incoming_.begin(), incoming_.end(), is);
  }
  [[nodiscard]] std::chrono::nanoseconds nap(std::chrono::nanoseconds longest) const {
    return is_late() ? std::min(longest, kLongestNap) : longest;
  }

  std::unique_ptr<Endpoint> owned_;
  Endpoint& real_;
  Chance chance_;
  std::uint64_t blind_until_ = 0;
  std::optional<std::uint32_t> cut_{};
  std::optional<Unreachable> lost_{};  // until somebody has been told
  std::map<Key, std::unique_ptr<FaultyOutgoing>> outgoing_{};
  std::map<Key, std::unique_ptr<FaultyIncoming>> incoming_{};
};

}  // namespace

std::unique_ptr<Endpoint> make_faulty_endpoint(std::unique_ptr<Endpoint> real, const Faults& faults) {
  Endpoint& borrowed = *real;
  return std::make_unique<FaultyEndpoint>(borrowed, std::move(real), faults);
}

std::unique_ptr<Endpoint> make_faulty_endpoint(Endpoint& real, const Faults& faults) {
  return std::make_unique<FaultyEndpoint>(real, nullptr, faults);
}

}  // namespace tutti::transport::faulty
