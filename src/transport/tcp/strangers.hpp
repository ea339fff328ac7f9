// SPDX-License-Identifier: Apache-2.0
// Who has connected and not shown the token yet. Each has room for one hello and a few seconds; there are so many at
// most, and then the oldest goes. Whoever says anything but a right hello is closed without an answer. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "transport/tcp/shared.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

// Who has said a right hello.
struct Admitted {
  UniqueFd socket;
  Hello hello;
};

class Strangers {
 public:
  static constexpr std::size_t kMost = 64;

  explicit Strangers(Shared& shared) : shared_(shared) {}

  // Lets in a few of those that wait at a listener. Others may be waiting still, or the system refuses for now.
  enum class Rest : std::uint8_t { none, more, refused };
  Rest accept(int listener, Clock::time_point now);
  void on_event(std::uint32_t place);
  void on_time(Clock::time_point now);
  [[nodiscard]] bool any() const { return count_ > 0; }
  // When the next one's time is over.
  [[nodiscard]] Clock::time_point due() const;

  void forsake() noexcept;

  // Since the last call.
  [[nodiscard]] std::vector<Admitted> take_admitted();

 private:
  struct Place {
    UniqueFd socket{};
    HelloBytes hello{};
    std::size_t filled = 0;
    Clock::time_point until{};
  };

  // Once a minute at most.
  void warn(std::string_view words);
  void close(Place& place);
  void turn_away(Place& place, std::string_view why);
  void read(std::uint32_t index);
  [[nodiscard]] std::string_view fault_of(const Hello& hello) const;

  Shared& shared_;
  std::array<Place, kMost> places_{};
  std::size_t count_ = 0;
  std::vector<Admitted> admitted_{};
  std::optional<Clock::time_point> warned_at_{};
};

}  // namespace tutti::transport::tcp
