// An algorithm, as data: its name, what it is, what it asks for, and how its schedules are made. Plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// What an algorithm needs between ranks that it lets talk to each other.
enum class Channel : std::uint8_t {
  staged,     // direct reads of what a rank exposes; staging slots will do
  symmetric,  // direct loads and stores on the peers' own buffers
  message,    // queued bytes
};

[[nodiscard]] std::string_view name_of(Channel channel);

struct Request {
  Collective collective = Collective::all_reduce;
  std::uint32_t num_ranks = 1;
  std::uint32_t root = 0;
};

struct Algorithm {
  std::string_view name;
  Collective collective;
  Channel channel;
  OrderClass order;
  std::string_view method;    // a sentence
  std::string_view citation;  // where it comes from
  Schedule (*make)(const Request& request);
};

}  // namespace tutti
