// SPDX-License-Identifier: Apache-2.0
// Messages from one rank that are seen late. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/endpoint.hpp"
#include "transport/faulty/chance.hpp"

namespace tutti::transport::faulty {

class FaultyIncoming final : public Incoming {
 public:
  FaultyIncoming(Incoming& real, Chance& chance) : real_(real), chance_(chance) {}

  [[nodiscard]] bool has_message() const override { return is_shown_; }
  [[nodiscard]] std::uint64_t description() const override { return real_.description(); }
  [[nodiscard]] std::uint64_t bytes() const override { return real_.bytes(); }
  [[nodiscard]] const std::byte* data() const override { return real_.data(); }
  // The next one may be seen at once.
  void take() override {
    real_.take();
    is_shown_ = false;
    static_cast<void>(step());
  }

  void expect(std::byte* place, std::uint64_t bytes) override { real_.expect(place, bytes); }
  // One that is whole is seen from here on: it may lie at the place that is withdrawn.
  void withdraw() override {
    real_.withdraw();
    if (is_cut_ || !real_.has_message()) return;
    due_.reset();
    is_shown_ = true;
  }

  // Whether a message is there that was not there before.
  bool step() {
    if (is_cut_ || is_shown_ || !real_.has_message()) return false;
    if (!due_) due_ = chance_.due(chance_.faults().delayed);
    if (*due_ > chance_.now()) return false;
    due_.reset();
    is_shown_ = true;
    chance_.count_message();
    return true;
  }
  // What has not been seen by now never is.
  void cut() {
    is_cut_ = true;
    due_.reset();
  }
  // Whether a later step has something to do, whatever comes.
  [[nodiscard]] bool is_late() const { return due_.has_value(); }

 private:
  Incoming& real_;
  Chance& chance_;
  bool is_shown_ = false;
  bool is_cut_ = false;
  std::optional<std::uint64_t> due_{};
};

}  // namespace tutti::transport::faulty
