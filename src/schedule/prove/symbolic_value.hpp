// SPDX-License-Identifier: Apache-2.0
// What a piece holds, as an expression over the contributions of the ranks. Equal expressions are one value with one
// id, so that comparing is comparing ids and the same fold in the next round costs a look-up.
//
// A value owns nothing; the table owns them all and only grows. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/collective.hpp"

namespace tutti {

using ValueId = std::uint32_t;
inline constexpr ValueId kNothing = 0;  // never written
inline constexpr ValueId kGivenUp = 1;  // was dropped by a step that gave it up

// A contribution is a rank's own input piece; results of different input pieces never meet.
struct Origin {
  std::uint32_t block = 0;
  std::uint32_t piece = 0;
  friend bool operator==(const Origin&, const Origin&) = default;
};

// Which step made a value first: for stories.
struct Maker {
  std::uint32_t lane_id = 0;
  std::uint32_t number = 0;  // of the step in its lane
};

struct Value {
  Origin origin;
  std::uint32_t count = 0;      // contributions
  std::uint32_t first = 0;      // the least and
  std::uint32_t end = 0;        // one past the last rank, where the contributions stand in rank order
  std::uint32_t roundings = 0;  // on the deepest path from an input to here: a step rounds once
  ValueId left = kNothing;      // what was folded; both nothing for a contribution
  ValueId right = kNothing;
  std::uint32_t bits = 0;     // which values have the same bits, if a + b = b + a
  bool in_rank_order = true;  // read from left to right the ranks are first, first + 1, ..., end - 1
  bool left_fold = true;      // every right operand is a contribution
  bool touched = false;       // pre-scaled: a step has read it from an input
  bool finished = false;      // has had its final touch: a step has made it knowing that it is complete
  Maker maker;
  ValueId with_touch = kNothing;   // the same value once it is touched, and
  ValueId with_finish = kNothing;  // once it is finished; nothing where that has not been asked for
  // The sum last made with this on the left: most values are folded in one way only, and this spares the look-up.
  ValueId sum_right = kNothing;
  ValueId sum = kNothing;
  bool sum_last = false;

  [[nodiscard]] bool is_contribution() const { return left == kNothing; }
};

class ValueTable {
 public:
  // `inputs` is how the ranks' inputs are divided: it makes room, and finding a contribution quick.
  explicit ValueTable(std::uint32_t num_ranks, Division inputs = {});

  [[nodiscard]] const Value& operator[](ValueId id) const { return values_[id]; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool holds(ValueId id, std::uint32_t rank) const {
    return (bitsets_[std::size_t{id} * words_ + rank / 64] >> (rank % 64) & 1U) != 0;
  }

  // The contribution of `rank`, as it stands in its input.
  ValueId contribution(std::uint32_t rank, Origin origin);
  ValueId touched(ValueId id) { return with_flag(id, &Value::touched, &Value::with_touch); }
  ValueId finished(ValueId id) { return with_flag(id, &Value::finished, &Value::with_finish); }
  // left + right; `last` where it is the last of its step's fold, which is when the result is rounded. The two are of
  // one origin and have no contribution in common.
  ValueId plus(ValueId left, ValueId right, bool last, Maker maker);

  // The same fold made by a switch for `rank`: in an order that nobody knows, and perhaps another for another rank.
  ValueId switched(ValueId id, std::uint32_t rank);

  // The first rank whose contribution both hold.
  [[nodiscard]] std::optional<std::uint32_t> common(ValueId left, ValueId right) const;

  // "((0 + 1) + 2)", shortened in the middle where it is long.
  [[nodiscard]] std::string expression(ValueId id) const;
  // The folds by which the contribution of `rank` came into the value, oldest first.
  [[nodiscard]] std::vector<ValueId> path_of(ValueId id, std::uint32_t rank) const;

 private:
  enum class Kind : std::uint8_t { contribution, plus, last_plus, bits, last_bits, switched, switched_bits };
  struct Key {
    Kind kind;
    std::uint32_t a, b, c;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };

  ValueId append(const Value& value);
  ValueId with_flag(ValueId id, bool Value::*flag, ValueId Value::*known);
  std::uint32_t intern_bits(Key key);

  std::uint32_t words_;
  Division inputs_;
  std::vector<ValueId> contributions_;  // by rank, block, piece of inputs_; nothing where not asked for yet
  std::uint32_t next_bits_;
  std::vector<Value> values_;
  std::vector<std::uint64_t> bitsets_;  // words_ for each value
  std::unordered_map<Key, std::uint32_t, Hash> known_;
};

}  // namespace tutti
