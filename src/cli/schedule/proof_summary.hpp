// SPDX-License-Identifier: Apache-2.0
// What `tutti prove` tells of one or several proofs together: the columns, and what stands in them. Values.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/views/table.hpp"
#include "schedule/cost.hpp"
#include "schedule/prove/prove.hpp"
#include "schedule/schedule.hpp"

namespace tutti::cli {

// Of proofs that are right: the loosest order, and the most that any of them needs.
class ProofSummary {
 public:
  void add(const Schedule& schedule, const Proof& proof);
  // Steps and blocks are told of this one.
  void set_cost(Cost cost) { cost_ = std::move(cost); }

  [[nodiscard]] std::vector<Cell> cells() const;
  // Steps and blocks are of the rank that has most; blocks are sizes of a block.
  [[nodiscard]] static std::vector<Column> columns();

 private:
  OrderClass order_ = OrderClass::ordered;
  bool has_messages_ = false;
  std::uint32_t depth_ = 0;
  std::uint32_t depth_fused_ = 0;
  std::uint32_t slots_ = 0;
  Exposure out_of_place_ = Exposure::none;
  Exposure in_place_ = Exposure::none;
  bool allows_out_of_place_ = true;
  bool allows_in_place_ = true;
  Cost cost_;
};

// A table of these columns behind others.
[[nodiscard]] Table proof_table(std::vector<Column> first);

[[nodiscard]] Cell number_cell(std::uint64_t number);

}  // namespace tutti::cli
