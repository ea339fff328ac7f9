// SPDX-License-Identifier: Apache-2.0
// The state that the oracle's code works on, and what each operation does to it. Copyable; borrows the code. One thread
// at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/oracle/oracle_code.hpp"

namespace tutti::oracle {

class Machine {
 public:
  Machine(const Code& code, std::uint32_t depth, OrderClass order, std::uint64_t seed);

  [[nodiscard]] std::uint32_t num_rows() const { return static_cast<std::uint32_t>(at_.size()); }
  // The operation that a row stands at; null at its end.
  [[nodiscard]] const Operation* next(std::uint32_t row) const {
    const std::vector<Operation>& operations = code_->rows[row].operations;
    return at_[row] == operations.size() ? nullptr : &operations[at_[row]];
  }
  [[nodiscard]] std::uint32_t at(std::uint32_t row) const { return at_[row]; }
  // Whether that may be done now.
  [[nodiscard]] bool is_ready(const Operation& operation) const;
  void perform(std::uint32_t row, const Operation& operation);
  // Everything up to the next operation that is shared, or not ready. Whether anything was done.
  bool settle(std::uint32_t row);

  [[nodiscard]] bool is_at_end() const;
  [[nodiscard]] bool has_failed() const { return !failure_.empty(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] std::string what_is_stuck() const;
  // Equal states have equal numbers, and different ones different ones but once in 2^64.
  [[nodiscard]] std::uint64_t fingerprint() const;

  // The steps passed since, when asked to note them.
  void note_steps() { notes_ = true; }
  [[nodiscard]] const std::vector<std::string>& steps() const { return steps_; }

 private:
  void load(std::uint32_t row, const Operation& operation);
  void check(std::uint32_t rank, std::uint32_t operation);
  void check_element(std::uint32_t rank, std::uint32_t operation, const Wanted& wanted);
  void fail(std::string what);

  const Code* code_;
  std::uint32_t depth_;
  OrderClass order_;
  std::vector<Element> cells_;
  std::vector<Element> registers_;  // by row
  std::vector<std::uint32_t> at_;   // by row
  std::vector<std::uint32_t> counters_;
  std::vector<Element> seen_;  // by result of each operation: the first rank's, for its bits
  std::uint64_t drawn_ = 0;    // for switches, whose order is anybody's guess
  std::string failure_;
  bool notes_ = false;
  std::vector<std::string> steps_;
};

}  // namespace tutti::oracle
