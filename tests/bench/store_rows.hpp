// SPDX-License-Identifier: Apache-2.0
// Rows and runs for the tests of the store: random ones of every shape, and whether two are the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "bench/store/store.hpp"

namespace tutti::harness::testing {

class RandomRows {
 public:
  explicit RandomRows(std::uint64_t seed) : random_(seed) {}

  bool coin() { return below(2) == 1; }
  std::uint64_t below(std::uint64_t end) { return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_); }
  template <typename Named>
  Named one_of(std::uint64_t count) {
    return static_cast<Named>(below(count));
  }

  // Any bytes but the one that keys are parted by: zeros and what is no UTF-8 among them. Often empty.
  std::string text() {
    std::string text(coin() ? 0 : below(20), '\0');
    for (char& each : text) {
      each = static_cast<char>(below(256));
      if (each == '\x1f') each = 'x';
    }
    return text;
  }

  double number() {
    switch (below(6)) {
      case 0: return 0;
      case 1: return static_cast<double>(below(1000));  // whole, and yet no integer
      case 2: return std::numeric_limits<double>::max();
      case 3: return std::numeric_limits<double>::denorm_min();
      case 4: return -std::numeric_limits<double>::infinity();
      default: return std::uniform_real_distribution<double>(-1e9, 1e9)(random_);
    }
  }

  std::int64_t integer() {
    switch (below(4)) {
      case 0: return std::numeric_limits<std::int64_t>::min();
      case 1: return std::numeric_limits<std::int64_t>::max();
      case 2: return 0;
      default: return static_cast<std::int64_t>(random_());
    }
  }

  Value value() {
    switch (below(3)) {
      case 0: return {integer()};
      case 1: return {number()};
      default: return {coin() ? std::string("64") : text()};
    }
  }

  std::optional<double> number_or_none() { return coin() ? std::optional(number()) : std::nullopt; }

  // Each has its number as launch, so that no two have the same key.
  Row row(int number_of_row) {
    Row row;
    row.bench = text();
    row.peer = text();
    row.num_ranks = static_cast<int>(below(1000));
    for (std::uint64_t each = below(4); each > 0; --each)
      row.settings.push_back({text(), coin() ? std::optional(text()) : std::nullopt});
    for (std::uint64_t each = below(4); each > 0; --each) row.point.values.emplace_back(text(), value());
    row.launch = number_of_row;
    row.outcome = one_of<Outcome>(4);
    row.note = text();
    row.is_checked = coin();
    for (std::uint64_t each = coin() ? 0 : below(2000); each > 0; --each) row.samples.push_back(number());
    for (std::size_t left = coin() ? row.samples.size() : 0; left > 0;) {
      row.rounds.push_back(static_cast<std::uint32_t>(below(left + 1)));
      left -= row.rounds.back();
    }
    row.invalid = coin() ? std::numeric_limits<std::uint64_t>::max() : below(100);
    row.sync = one_of<Sync>(4);
    row.stop = one_of<Stop>(4);
    row.shares_cores = coin();
    row.bytes = number_or_none();
    if (coin()) row.message = Message{.bytes = number(), .traffic = one_of<Traffic>(9)};
    row.items = number_or_none();
    row.flops = number_or_none();
    for (std::uint64_t each = below(4); each > 0; --each) row.counters[text()] = number();
    row.version = text();
    row.ran = text();
    for (std::uint64_t each = below(4); each > 0; --each)
      row.evidence[text()] = Evidence{.obeyed = one_of<State::Obeyed>(3), .how = text()};
    return row;
  }

  StoredRun run() {
    StoredRun run;
    run.begun = text();
    run.bench = text();
    run.command = text();
    run.sweep = text();
    run.machine = text();
    run.tutti = text();
    run.owner = text();
    run.is_paired = coin();
    return run;
  }

 private:
  std::mt19937_64 random_;
};

inline void expect_same(const Row& a, const Row& b) {
  EXPECT_EQ(a.bench, b.bench);
  EXPECT_EQ(a.peer, b.peer);
  EXPECT_EQ(a.num_ranks, b.num_ranks);
  EXPECT_EQ(a.settings, b.settings);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.launch, b.launch);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.note, b.note);
  EXPECT_EQ(a.is_checked, b.is_checked);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.rounds, b.rounds);
  EXPECT_EQ(a.invalid, b.invalid);
  EXPECT_EQ(a.sync, b.sync);
  EXPECT_EQ(a.stop, b.stop);
  EXPECT_EQ(a.shares_cores, b.shares_cores);
  EXPECT_EQ(a.bytes, b.bytes);
  ASSERT_EQ(a.message.has_value(), b.message.has_value());
  if (a.message) {
    EXPECT_EQ(a.message->bytes, b.message->bytes);
    EXPECT_EQ(a.message->traffic, b.message->traffic);
  }
  EXPECT_EQ(a.items, b.items);
  EXPECT_EQ(a.flops, b.flops);
  EXPECT_EQ(a.counters, b.counters);
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.ran, b.ran);
  ASSERT_EQ(a.evidence.size(), b.evidence.size());
  for (const auto& [variable, evidence] : a.evidence) {
    ASSERT_TRUE(b.evidence.contains(variable));
    EXPECT_EQ(evidence.obeyed, b.evidence.at(variable).obeyed);
    EXPECT_EQ(evidence.how, b.evidence.at(variable).how);
  }
  EXPECT_EQ(key_of(a), key_of(b));
}

inline void expect_same(const StoredRun& a, const StoredRun& b) {
  EXPECT_EQ(a.begun, b.begun);
  EXPECT_EQ(a.bench, b.bench);
  EXPECT_EQ(a.command, b.command);
  EXPECT_EQ(a.sweep, b.sweep);
  EXPECT_EQ(a.machine, b.machine);
  EXPECT_EQ(a.tutti, b.tutti);
  EXPECT_EQ(a.owner, b.owner);
  EXPECT_EQ(a.is_paired, b.is_paired);
}

// A row that differs from others of its kind in its number alone.
inline Row numbered_row(int number, std::size_t num_samples = 50) {
  Row row;
  row.bench = "all_reduce";
  row.peer = "null";
  row.num_ranks = 2;
  row.launch = number;
  row.settings = {{"A", "1"}, {"B", std::nullopt}};
  row.point.values = {{"bytes", std::int64_t{4096}}, {"type", "f32"}};
  row.counters["bus"] = 2.5;
  row.evidence["A"] = Evidence{.obeyed = State::Obeyed::confirmed, .how = "its log"};
  row.samples.assign(num_samples, 0.5 + number);
  return row;
}

}  // namespace tutti::harness::testing
