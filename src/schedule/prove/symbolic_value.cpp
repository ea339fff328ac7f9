// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/symbolic_value.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace tutti {

namespace {

// The finishing step of splitmix64: spreads every input bit over the whole word.
std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ word >> 30U) * 0xbf58476d1ce4e5b9U;
  word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
  return word ^ word >> 31U;
}

}  // namespace

std::size_t ValueTable::Hash::operator()(const Key& key) const {
  const std::uint64_t low = std::uint64_t{key.a} << 32U | key.b;
  const std::uint64_t high = std::uint64_t{key.c} << 8U | static_cast<std::uint64_t>(key.kind);
  return mixed(low + mixed(high));
}

ValueTable::ValueTable(std::uint32_t num_ranks, Division inputs)
    : words_((num_ranks + 63) / 64), inputs_(inputs), next_bits_(num_ranks) {
  contributions_.resize(std::size_t{num_ranks} * inputs.blocks * inputs.pieces);
  // A fold of a piece has about as many sums, and as many bits, as the piece has contributions.
  known_.reserve(contributions_.size() * 2);
  values_.reserve(contributions_.size() * 4);
  bitsets_.reserve(contributions_.size() * words_);
  append({});  // kNothing
  append({});  // kGivenUp
}

ValueId ValueTable::append(const Value& value) {
  values_.push_back(value);
  bitsets_.resize(bitsets_.size() + words_);
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId ValueTable::contribution(std::uint32_t rank, Origin origin) {
  const bool has_place = origin.block < inputs_.blocks && origin.piece < inputs_.pieces;
  const std::size_t place = (std::size_t{rank} * inputs_.blocks + origin.block) * inputs_.pieces + origin.piece;
  ValueId& known = has_place
                       ? contributions_[place]
                       : known_.try_emplace({Kind::contribution, rank, origin.block, origin.piece}, 0).first->second;
  if (known != kNothing) return known;
  Value value;
  value.origin = origin;
  value.count = 1;
  value.first = rank;
  value.end = rank + 1;
  value.bits = rank;
  const ValueId id = append(value);
  bitsets_[std::size_t{id} * words_ + rank / 64] |= std::uint64_t{1} << (rank % 64);
  return known = id;
}

ValueId ValueTable::with_flag(ValueId id, bool Value::*flag, ValueId Value::*known) {
  if (values_[id].*known != kNothing) return values_[id].*known;
  Value value = values_[id];
  value.*flag = true;
  value.sum_right = kNothing;
  const ValueId copy = append(value);
  std::copy_n(&bitsets_[std::size_t{id} * words_], words_, &bitsets_[std::size_t{copy} * words_]);
  return values_[id].*known = copy;
}

std::uint32_t ValueTable::intern_bits(Key key) {
  const auto [entry, is_new] = known_.try_emplace(key, next_bits_);
  if (is_new) ++next_bits_;
  return entry->second;
}

ValueId ValueTable::plus(ValueId left, ValueId right, bool last, Maker maker) {
  Value& known = values_[left];
  if (known.sum_right == right && known.sum_last == last) return known.sum;
  const auto [entry, is_new] = known_.try_emplace({last ? Kind::last_plus : Kind::plus, left, right, 0}, 0);
  if (!is_new) return entry->second;
  const Value& a = values_[left];
  const Value& b = values_[right];
  Value sum;
  sum.origin = a.origin;
  sum.count = a.count + b.count;
  sum.first = a.first;
  sum.end = b.end;
  sum.left = left;
  sum.right = right;
  sum.maker = maker;
  sum.roundings = std::max(a.roundings, b.roundings) + (last ? 1 : 0);
  sum.in_rank_order = a.in_rank_order && b.in_rank_order && a.end == b.first;
  sum.left_fold = sum.in_rank_order && a.left_fold && b.is_contribution();
  sum.touched = a.touched && b.touched;
  ValueId& result = entry->second;
  const ValueId id = append(sum);
  values_[left].sum_right = right;
  values_[left].sum_last = last;
  values_[left].sum = id;
  result = id;  // before interning, which may move the entry's bucket but not the entry
  values_[id].bits =
      intern_bits({last ? Kind::last_bits : Kind::bits, std::min(values_[left].bits, values_[right].bits),
                   std::max(values_[left].bits, values_[right].bits), 0});
  for (std::size_t word = 0; word < words_; ++word) {
    bitsets_[std::size_t{id} * words_ + word] =
        bitsets_[std::size_t{left} * words_ + word] | bitsets_[std::size_t{right} * words_ + word];
  }
  return id;
}

ValueId ValueTable::switched(ValueId id, std::uint32_t rank) {
  const auto [entry, is_new] = known_.try_emplace({Kind::switched, id, rank, 0}, 0);
  if (!is_new) return entry->second;
  Value value = values_[id];
  value.in_rank_order = false;
  value.left_fold = false;
  value.with_touch = value.with_finish = value.sum_right = kNothing;
  ValueId& result = entry->second;
  const ValueId copy = append(value);
  result = copy;
  std::copy_n(&bitsets_[std::size_t{id} * words_], words_, &bitsets_[std::size_t{copy} * words_]);
  values_[copy].bits = intern_bits({Kind::switched_bits, id, rank, 0});
  return copy;
}

std::optional<std::uint32_t> ValueTable::common(ValueId left, ValueId right) const {
  for (std::uint32_t word = 0; word < words_; ++word) {
    const std::uint64_t both =
        bitsets_[std::size_t{left} * words_ + word] & bitsets_[std::size_t{right} * words_ + word];
    if (both != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(both));
  }
  return std::nullopt;
}

std::string ValueTable::expression(ValueId id) const {
  if (id == kNothing) return "nothing";
  if (id == kGivenUp) return "what was given up";
  const Value& value = values_[id];
  if (value.is_contribution()) return fmt::format("{}", value.first);
  constexpr std::uint32_t kMostTerms = 8;
  if (value.count > kMostTerms) return fmt::format("(a fold of {} contributions)", value.count);
  return fmt::format("({} + {})", expression(value.left), expression(value.right));
}

std::vector<ValueId> ValueTable::path_of(ValueId id, std::uint32_t rank) const {
  std::vector<ValueId> path;
  for (; id > kGivenUp && !values_[id].is_contribution();
       id = holds(values_[id].left, rank) ? values_[id].left : values_[id].right)
    path.push_back(id);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace tutti
