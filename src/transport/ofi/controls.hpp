// SPDX-License-Identifier: Apache-2.0
// Control records of one endpoint: receives for those of any rank, which are posted again at once, and places for those
// that are sent. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/ofi/fabric.hpp"
#include "transport/ofi/wire.hpp"

namespace tutti::transport::ofi {

class Controls final : public Owner {
 public:
  Controls(Fabric& fabric, const Tags& tags, std::uint32_t num_ranks);
  // Posts all receives that can be posted.
  [[nodiscard]] Status open();

  // `owner` is told what came of it.
  [[nodiscard]] Begun send(fi_addr_t to, const Control& control, Owner& owner, std::int64_t& error);
  [[nodiscard]] std::uint32_t num_sending() const { return num_sending_; }

  // What has come since the last call; nothing is known of who has sent it. Keys are still to be looked at.
  [[nodiscard]] std::vector<Control> take_received() { return std::exchange(received_, {}); }
  [[nodiscard]] bool has_received() const { return !received_.empty(); }
  // Posts receives again that could not be posted; whether any is left.
  bool post_again();
  [[nodiscard]] bool has_unposted() const { return !unposted_.empty(); }
  void on_completion(const Completion& completion) override;

 private:
  struct Place {
    Operation operation{};
    Owner* sender = nullptr;
    bool is_busy = false;
  };
  [[nodiscard]] std::span<std::byte, kControlBytes> bytes_of(std::size_t place) const {
    return std::span<std::byte, kControlBytes>(memory_.get() + place * kStride, kControlBytes);
  }
  [[nodiscard]] Begun post(std::uint32_t place);

  static constexpr std::size_t kStride = 64;

  Fabric& fabric_;
  const Tags& tags_;
  const std::uint32_t num_receives_;
  const std::uint32_t num_places_;  // receives first
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<Place[]> places_;
  Registration registration_{};
  std::uint32_t next_ = 0;  // among those to send from
  std::uint32_t num_sending_ = 0;
  std::vector<std::uint32_t> unposted_{};
  std::vector<Control> received_{};
};

}  // namespace tutti::transport::ofi
