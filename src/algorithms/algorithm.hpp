// SPDX-License-Identifier: Apache-2.0
// An algorithm, as data: its name, what it is, what it asks for, and how its schedules are made. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/patterns/grid.hpp"
#include "base/status.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// What an algorithm needs between ranks that it lets talk to each other.
enum class Channel : std::uint8_t {
  staged,     // direct reads of what a rank exposes; staging slots will do
  symmetric,  // direct loads and stores on the peers' own buffers
  message,    // queued bytes
  multicast,  // a switch that copies and reduces
};

[[nodiscard]] std::string_view name_of(Channel channel);

// What some algorithms are made with beside the ranks; each takes those that its row names.
struct Parameters {
  std::uint32_t radix = 2;
  Grid grid = {};                          // its size is the number of ranks, or that of each package
  std::vector<std::uint32_t> groups = {};  // of neighbouring ranks: their sizes, which add up to all ranks
  std::string inner = "ring";              // the algorithm between groups, by name
  std::uint32_t corner = 0;                // 0: the centre; 1 to 4: a corner of the grid instead
};

struct Request {
  Collective collective = Collective::all_reduce;
  std::uint32_t num_ranks = 1;
  std::uint32_t root = 0;
  Parameters parameters = {};
};

struct Takes {
  bool radix = false;
  bool grid = false;
  bool depth = false;        // the grid is of three dimensions
  bool whole_grids = false;  // the number of ranks may be a multiple of the grid's: one grid after another
  bool groups = false;       // with inner
  bool corner = false;

  // Of the grid.
  [[nodiscard]] std::uint32_t dimensions() const { return depth ? 3 : 2; }
};

// "WxH", or "WxHxD".
[[nodiscard]] constexpr std::string_view form_of_grid(const Takes& takes) { return takes.depth ? "WxHxD" : "WxH"; }

struct Algorithm {
  std::string_view name;
  Collective collective;
  Channel channel;
  OrderClass order;
  // Of those that only expose: whether that may be read where it lies, instead of from a copy; of those that store as
  // well, whether the system may copy it all (decision 0033). prove() tells, and a test holds it.
  bool name_safe = false;
  bool name_safe_in_place = false;
  Takes takes = {};
  std::string_view ranks = "any";  // which numbers of ranks it is for, in words
  std::string_view method;         // a sentence
  std::string_view citation;       // where it comes from
  // What is against a request that its parameters do not rule out already; empty if nothing is. Null: nothing ever is.
  std::string (*objection)(const Request& request) = nullptr;
  Schedule (*make)(const Request& request);
};

// The row of an algorithm that does as well for blocks of different sizes, in the collective that has those.
[[nodiscard]] constexpr Algorithm varying(Algorithm row, Collective collective) {
  row.collective = collective;
  return row;
}

// What keeps the algorithm from doing what is asked, in words; empty if nothing does. Only then make() may be called.
[[nodiscard]] std::string objection_to(const Algorithm& algorithm, const Request& request);

// "ring", "recursive_multiplying(3)", "bucket_2d(4x2)", "hierarchical(2+3, ring)", of one group "hierarchical(5)".
[[nodiscard]] std::string full_name(const Algorithm& algorithm, const Request& request);

// The request's schedule without its steps: what make() fills in.
[[nodiscard]] Schedule header_of(const Algorithm& algorithm, const Request& request, std::uint32_t pieces,
                                 std::uint32_t lanes = 1, std::uint32_t scratch = 0);
// That of an algorithm of a single lane, with its steps.
[[nodiscard]] Schedule one_lane(const Algorithm& algorithm, const Request& request, Lane (*steps)(Builder& b),
                                std::uint32_t pieces = 1, std::uint32_t scratch = 0);

}  // namespace tutti
