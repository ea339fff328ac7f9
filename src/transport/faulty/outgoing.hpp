// SPDX-License-Identifier: Apache-2.0
// Messages to one rank that go out late, and whose credits are seen late. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "transport/endpoint.hpp"
#include "transport/faulty/chance.hpp"

namespace tutti::transport::faulty {

class FaultyOutgoing final : public Outgoing {
 public:
  FaultyOutgoing(Outgoing& real, std::uint32_t depth, Chance& chance)
      : real_(real), depth_(depth), chance_(chance), granted_(depth) {}

  [[nodiscard]] bool has_credit() override { return !is_cut_ && published_ < granted_; }
  [[nodiscard]] std::byte* slot(std::uint64_t bytes) override;
  void publish(std::uint64_t description) override;
  [[nodiscard]] bool is_drained() override { return held_.empty() && real_.is_drained(); }
  [[nodiscard]] bool has_sent() const override { return held_.empty() && real_.has_sent(); }

  // Whether anything went on, or a credit came.
  bool step();
  // What has not gone out by now never does, and no credit comes.
  void cut();
  // Whether a later step has something to do, whatever comes.
  [[nodiscard]] bool is_late() const { return !held_.empty() || credits_due_.has_value(); }
  [[nodiscard]] bool is_holding() const { return !held_.empty(); }

 private:
  struct Held {
    std::vector<std::byte> bytes;
    std::uint64_t description = 0;
    std::uint64_t due = 0;
  };

  bool pass_on();
  [[nodiscard]] std::uint64_t could_grant();

  Outgoing& real_;
  const std::uint32_t depth_;
  Chance& chance_;
  std::vector<std::byte> draft_{};
  std::deque<Held> held_{};  // in order
  std::uint64_t published_ = 0;
  std::uint64_t granted_;  // messages that could be published so far
  std::optional<std::uint64_t> credits_due_{};
  bool is_cut_ = false;
};

}  // namespace tutti::transport::faulty
