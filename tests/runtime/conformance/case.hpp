// SPDX-License-Identifier: Apache-2.0
// One call whose result is known, and everything about it that might matter to the runtime. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "data/type.hpp"
#include "runtime/communicator/settings.hpp"
#include "runtime/selection/portfolio.hpp"

namespace tutti::test {

inline constexpr std::uint32_t kMostRanks = 9;

enum class Sizes : std::uint8_t { alike, uneven, some_empty, one_large };
// How blocks stand in their buffer.
enum class Spread : std::uint8_t { packed, packed_by_displacements, with_gaps, backwards_with_gaps };

// Done at once, begun and waited for, or prepared, and then started twice.
enum class Form : std::uint8_t { at_once, begun, prepared };

struct Case {
  const Algorithm* algorithm = nullptr;
  std::string way;  // its full name
  std::uint32_t num_ranks = 1;
  std::uint32_t root = 0;
  Type type = Type::i8;
  Op op = Op::sum;
  std::uint64_t count = 0;
  bool in_place = false;
  bool symmetric = false;      // buffers are in symmetric memory
  bool odd_addresses = false;  // buffers are a byte off whatever alignment they would have
  WalkerChoice walker = WalkerChoice::automatic;
  std::uint64_t slot = 4096;  // bytes, of staging and of messages
  bool attached = false;      // others read inputs where they lie, however small, if the system allows it
  std::uint64_t seed = 1;     // of the data: what an earlier call has left behind is never right by chance
  // Of collectives whose blocks vary, which have at most `count` elements each.
  Sizes sizes = Sizes::alike;
  Spread spread = Spread::packed;
  Form form = Form::at_once;

  [[nodiscard]] std::string to_string() const;
};

// Whether the case of that number is run: every other one where tests are brief (TUTTI_BRIEF_TESTS), and then by the
// Thue-Morse sequence, so that what alternates from case to case remains in both its forms.
[[nodiscard]] bool is_run(std::size_t number);
// Those of them that are run.
[[nodiscard]] std::vector<Case> thinned(std::vector<Case> cases);

// The collective's buffers, without steps.
[[nodiscard]] Schedule header_of(const Case& each);

// The blocks of a rank's input or output, in elements: how many, and where they begin.
struct PlacedBlocks {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> offsets;
  std::size_t end = 0;  // of the last
};
[[nodiscard]] PlacedBlocks placed_blocks(const Case& each, std::uint32_t rank, Space space);

// What the runtime does not do by an algorithm, but by another: all that there is, but for operators that want the
// ranks in order and algorithms that do not promise it.
struct Refusals {
  bool everything = false;
  bool ordinary_memory = false;
  bool unattached = false;  // where the system does not copy between ranks
  bool premultiplied_sums = false;
};
[[nodiscard]] Refusals refusals_of(const Algorithm& algorithm);

// Those that calls can be made of: each of the catalogue, unless it refuses everything.
[[nodiscard]] std::vector<const Algorithm*> conforming_algorithms();

// The algorithm's parameters for that many ranks, the usual first; root 0. Empty where it is not for them.
[[nodiscard]] std::vector<Request> requests_of(const Algorithm& algorithm, std::uint32_t num_ranks);

}  // namespace tutti::test
