// SPDX-License-Identifier: Apache-2.0
// What ranks say to each other in tests of endpoints: flows of messages whose bytes both ends can compute, so that each
// that arrives is checked to be the right one, whole, and in its turn. One thread a party.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "transport/endpoint.hpp"

namespace tutti::transport {

struct Flow {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  Traffic traffic = Traffic::schedules;
  std::uint64_t messages = 0;
  std::vector<std::uint64_t> sizes{};  // in turn
};

// What a message holds, 8 bytes at a time.
inline std::uint64_t word_of(const Flow& flow, std::uint64_t message, std::uint64_t word) {
  std::uint64_t bits = (flow.source * 1009ULL + flow.destination) * 2ULL + static_cast<std::uint64_t>(flow.traffic);
  bits = (bits << 40) ^ (message << 16) ^ word;
  bits *= 0x9e3779b97f4a7c15ULL;
  return bits ^ (bits >> 29);
}
inline std::uint64_t description_of(const Flow& flow, std::uint64_t message) { return word_of(flow, message, 0xffff); }

// One rank's ends of all flows. Now and then it tells where the next message is to come, and takes that back.
class Party {
 public:
  // If it lends, about half of the messages go out of memory that is changed right afterwards; then no connection may
  // break.
  Party(Endpoint& endpoint, std::uint32_t rank, const std::vector<Flow>& flows, std::uint64_t seed, bool lends = false)
      : endpoint_(endpoint), random_(seed), lends_(lends) {
    for (const Flow& flow : flows) {
      if (flow.source == rank) sent_.push_back({&flow, 0});
      if (flow.destination == rank) received_.push_back({&flow, 0});
    }
  }

  // Says and hears a little, as chance has it. Stops for good at the first fault.
  void talk() {
    if (!fault_.empty()) return;
    for (End& end : sent_) say(end, random_() % 4);
    for (End& end : received_) {
      take_back(end);
      hear(end, random_() % 4);
      if (random_() % 4 != 0) expect(end);
    }
  }
  [[nodiscard]] bool is_done() const {
    for (const End& end : sent_)
      if (end.done < end.flow->messages) return false;
    for (const End& end : received_)
      if (end.done < end.flow->messages) return false;
    return true;
  }
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  void stop_hearing(bool stops) { stops_hearing_ = stops; }
  // Messages that have come to the place that was told.
  [[nodiscard]] std::uint64_t num_placed() const { return num_placed_; }

 private:
  struct End {
    const Flow* flow = nullptr;
    std::uint64_t done = 0;
    std::vector<std::byte> place{};
    bool expects = false;
  };

  static std::uint64_t size_of(const End& end) { return end.flow->sizes[end.done % end.flow->sizes.size()]; }

  void say(End& end, std::uint64_t most) {
    Outgoing& to = endpoint_.to(end.flow->destination, end.flow->traffic);
    for (; most > 0 && end.done < end.flow->messages && to.has_credit(); --most, ++end.done) {
      const std::uint64_t bytes = size_of(end);
      if (lends_ && random_() % 2 == 0) {
        lent_.resize(bytes);
        write(lent_.data(), end, bytes);
        to.publish_from(lent_.data(), bytes, description_of(*end.flow, end.done));
        std::fill(lent_.begin(), lent_.end(), kJunk);
        continue;
      }
      if (bytes > 0) write(to.slot(bytes), end, bytes);
      to.publish(description_of(*end.flow, end.done));
    }
  }

  // Sometimes for another number of bytes than will come.
  void expect(End& end) {
    Incoming& from = endpoint_.from(end.flow->source, end.flow->traffic);
    if (end.expects || end.done >= end.flow->messages || from.has_message()) return;
    const std::uint64_t bytes = size_of(end) + (random_() % 8 == 0 ? 1 : 0);
    end.place.assign(bytes + kGuard, kJunk);
    from.expect(end.place.data(), bytes);
    end.expects = true;
  }
  // What has not come whole must not need the place any more.
  void take_back(End& end) {
    if (!end.expects || random_() % 2 == 0) return;
    Incoming& from = endpoint_.from(end.flow->source, end.flow->traffic);
    from.withdraw();
    end.expects = false;
    if (!from.has_message() || from.data() != end.place.data()) std::fill(end.place.begin(), end.place.end(), kJunk);
  }
  [[nodiscard]] static bool is_guard_whole(const End& end) {
    return std::all_of(end.place.end() - static_cast<std::ptrdiff_t>(std::min(end.place.size(), kGuard)),
                       end.place.end(), [](std::byte each) { return each == kJunk; });
  }

  static void write(std::byte* slot, const End& end, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += 8) {
      const std::uint64_t word = word_of(*end.flow, end.done, at);
      std::memcpy(slot + at, &word, std::min<std::uint64_t>(8, bytes - at));
    }
  }

  void hear(End& end, std::uint64_t most) {
    Incoming& from = endpoint_.from(end.flow->source, end.flow->traffic);
    for (; !stops_hearing_ && most > 0 && fault_.empty() && from.has_message(); --most, ++end.done) {
      const std::uint64_t bytes = end.done < end.flow->messages ? size_of(end) : 0;
      const bool is_right = end.done < end.flow->messages && from.bytes() == bytes &&
                            from.description() == description_of(*end.flow, end.done) &&
                            is_written(from.data(), end, bytes) && is_guard_whole(end);
      if (!end.place.empty() && from.data() == end.place.data()) ++num_placed_;
      if (!is_right)
        fault_ = fmt::format("message {} of {} from rank {} to {} is not what was sent ({} bytes came)", end.done,
                             end.flow->messages, end.flow->source, end.flow->destination, from.bytes());
      from.take();
      end.expects = false;
    }
  }

  static bool is_written(const std::byte* data, const End& end, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += 8) {
      const std::uint64_t word = word_of(*end.flow, end.done, at);
      if (std::memcmp(data + at, &word, std::min<std::uint64_t>(8, bytes - at)) != 0) return false;
    }
    return true;
  }

  static constexpr std::byte kJunk{0xee};
  static constexpr std::size_t kGuard = 16;

  Endpoint& endpoint_;
  std::mt19937_64 random_;
  bool lends_;
  std::vector<std::byte> lent_{};
  std::uint64_t num_placed_ = 0;
  std::vector<End> sent_{};
  std::vector<End> received_{};
  std::string fault_{};
  bool stops_hearing_ = false;
};

// Endpoints of all ranks of a job, however they are made.
class World {
 public:
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  virtual ~World() = default;
  [[nodiscard]] virtual Endpoint& endpoint(std::uint32_t rank) = 0;
  // A rank's endpoint is no more.
  virtual void drop(std::uint32_t rank) = 0;
};

}  // namespace tutti::transport
