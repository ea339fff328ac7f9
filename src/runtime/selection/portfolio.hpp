// SPDX-License-Identifier: Apache-2.0
// What a communicator can run: of each collective the algorithms of the catalogue, and what else it is given, by name
// with parameters or as a schedule; with the plans that have been made of them. Each has a number, which descriptions
// of calls carry: alike on all ranks that are given the same in the same order.
//
// One belongs to one communicator of one rank; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "base/status.hpp"
#include "data/type.hpp"
#include "runtime/plan/plan.hpp"
#include "table/decision_table.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

// What a call must be to run it.
struct Demands {
  bool opens = false;  // memory for others to store to
  bool keeps_rank_order = false;
  std::vector<std::uint32_t> disordered_roots = {};  // with which it does not, all the same
  bool allows_in_place = true;
  bool allows_out_of_place = true;
  std::optional<std::uint32_t> root = {};  // the only one that it is for
  // Whether what it exposes may be read where it lies, instead of from a copy.
  bool name_safe = false;
  bool name_safe_in_place = false;
};

// A way of doing a collective: an algorithm with its parameters, or a schedule of the user's own.
struct Way {
  std::string name;
  Collective collective = Collective::all_reduce;
  std::uint32_t number = 0;
  const Algorithm* algorithm = nullptr;  // null: `own`
  Request request;
  std::optional<Schedule> own;
  bool is_known = false;  // what follows has been found out
  std::string refusal;    // why it cannot run here at all; empty: it can
  Demands demands;
  std::vector<std::unique_ptr<const Plan>> plans;  // by root, where the collective has one
};

// What keeps the way from a call; empty if nothing does.
struct CallFacts {
  bool symmetric = false;               // both buffers are in symmetric memory
  bool can_store_attached = false;      // the system copies for them to each other's memory
  bool can_attach = false;              // the system copies for them from each other's memory
  bool pays_to_attach = false;          // and sooner than two copies would be made
  bool pays_to_store_attached = false;  // and both ways
  bool crowded = false;                 // there are more ranks than cores
  bool in_place = false;
  Op op = Op::sum;
  bool commutative = true;
  std::uint32_t root = 0;
  TypeClass types = TypeClass::plain;
};
[[nodiscard]] std::string_view objection_to(const Way& way, const CallFacts& call);
// Whether the others may read this call's buffers where they lie.
[[nodiscard]] bool is_name_safe(const Way& way, const CallFacts& call);

class Portfolio {
 public:
  Portfolio(std::uint32_t rank, const shm::RegionShape& shape, Hosts hosts = {});

  // Plans of many ranks take their time: true ends them, and refuses the ways that they are for.
  void end_when(std::function<bool()> is_interrupted) { is_interrupted_ = std::move(is_interrupted); }

  // The way of that full name (algorithms/full_name.hpp), borrowed for as long as the portfolio lives. An error where
  // there is no such algorithm for these ranks; one that this transport cannot run is a way with a refusal.
  [[nodiscard]] Result<Way*> find(Collective collective, std::string_view name);

  // A schedule of the user's own, which must be right.
  [[nodiscard]] Result<Way*> add(std::string name, Schedule schedule, const Demands& demands);

  [[nodiscard]] Result<const Plan*> plan(Way& way, std::uint32_t root);

  // Those of the catalogue with their usual parameters, in its order, then the others as they came.
  [[nodiscard]] const std::deque<Way>& of(Collective collective) const {
    return ways_[static_cast<std::size_t>(collective)];
  }

 private:
  [[nodiscard]] std::deque<Way>& ways(Collective collective) { return ways_[static_cast<std::size_t>(collective)]; }
  [[nodiscard]] Result<Way*> append(Way way);
  void get_to_know(Way& way);

  std::uint32_t rank_;
  shm::RegionShape shape_;
  Hosts hosts_;
  std::function<bool()> is_interrupted_;
  std::array<std::deque<Way>, kNumCollectives> ways_;  // ways stay where they are
};

}  // namespace tutti
