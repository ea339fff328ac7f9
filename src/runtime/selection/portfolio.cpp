// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/portfolio.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "algorithms/registry.hpp"
#include "base/counted.hpp"
#include "runtime/plan/call.hpp"

namespace tutti {

namespace {

// Whether others can store to the buffers of the call. With a root some ranks lack a buffer, by which they could tell
// where in symmetric memory the others have theirs.
bool is_stored_to(const Way& way, const CallFacts& call) {
  return facts_of(way.collective).has_root ? call.can_store_attached && is_name_safe(way, call) : call.symmetric;
}

}  // namespace

std::string_view objection_to(const Way& way, const CallFacts& call) {
  if (!way.refusal.empty()) return way.refusal;
  const Demands& demands = way.demands;
  if (demands.opens && !is_stored_to(way, call))
    return facts_of(way.collective).has_root ? "it has the system store to other ranks' buffers, which it may not "
                                               "here, or which TUTTI_WALKER or TUTTI_ATTACH_MIN rule out"
                                             : "it needs both buffers in symmetric memory";
  if (demands.opens && call.op == Op::premultiplied_sum)
    return "it reads inputs by name, where a pre-multiplied sum has not scaled them";
  if (!call.commutative) {
    const std::vector<std::uint32_t>& disordered = demands.disordered_roots;
    if (!demands.keeps_rank_order) return "it does not keep the order of the ranks";
    if (std::find(disordered.begin(), disordered.end(), call.root) != disordered.end())
      return "it does not keep the order of the ranks with that root";
  }
  // With a root, ranks differ in what they pass, and must answer alike.
  if (facts_of(way.collective).has_root && !(demands.allows_in_place && demands.allows_out_of_place))
    return "with a root it must be for calls in place and for others";
  if (!demands.allows_in_place && call.in_place) return "it is not for calls in place";
  if (!demands.allows_out_of_place && !call.in_place) return "it is for calls in place only";
  if (demands.root && *demands.root != call.root) return "it is for another root";
  return "";
}

bool is_name_safe(const Way& way, const CallFacts& call) {
  const bool is_safe = call.in_place ? way.demands.name_safe_in_place : way.demands.name_safe;
  return is_safe && call.op != Op::premultiplied_sum;
}

Portfolio::Portfolio(std::uint32_t rank, const shm::RegionShape& shape, Hosts hosts)
    : rank_(rank), shape_(shape), hosts_(std::move(hosts)) {
  for (const Algorithm* algorithm : all_algorithms()) {
    Way& way = ways(algorithm->collective).emplace_back();
    way.name = algorithm->name;
    way.collective = algorithm->collective;
    way.number = number_of(*algorithm);
    way.algorithm = algorithm;
  }
}

Result<Way*> Portfolio::append(Way way) {
  std::deque<Way>& all = ways(way.collective);
  if (all.size() > CallDescription::kMostAlgorithm)
    return Status(Code::invalid_argument,
                  fmt::format("a communicator keeps {} ways of doing {}, and {} is one more",
                              CallDescription::kMostAlgorithm + 1, name_of(way.collective), way.name));
  way.number = static_cast<std::uint32_t>(all.size());
  return &all.emplace_back(std::move(way));
}

Result<Way*> Portfolio::find(Collective collective, std::string_view name) {
  std::deque<Way>& all = ways(collective);
  const auto named = std::find_if(all.begin(), all.end(), [&](const Way& way) { return way.name == name; });
  if (named != all.end() && named->is_known) return &*named;
  const Result<NamedAlgorithm> found = find_by_full_name(collective, name, shape_.num_ranks);
  if (!found.ok()) return found.status();
  Way* way = nullptr;
  if (name.find('(') == std::string_view::npos) {
    way = &all[number_of(*found->algorithm)];
    if (way->is_known) return way;
  } else {
    Way given;
    given.name = name;
    given.collective = collective;
    given.algorithm = found->algorithm;
    Result<Way*> added = append(std::move(given));
    if (!added.ok()) return added;
    way = *added;
  }
  way->request = found->request;
  get_to_know(*way);
  return way;
}

Result<Way*> Portfolio::add(std::string name, Schedule schedule, const Demands& demands) {
  Way way;
  way.name = std::move(name);
  way.collective = schedule.collective;
  way.own = std::move(schedule);
  way.is_known = true;
  way.demands = demands;
  return append(std::move(way));
}

// What it demands shows in the plan for the first root; those for others differ in the numbers of ranks, and in whether
// they keep their order.
void Portfolio::get_to_know(Way& way) {
  way.is_known = true;
  const Result<const Plan*> made = plan(way, 0);
  if (!made.ok()) {
    way.refusal = made.status().message();
    return;
  }
  const Plan& plan = **made;
  if (plan.crosses_hosts) {
    way.refusal = "it reaches the memory of ranks that are on another host";
    return;
  }
  way.demands = {.opens = plan.opens,
                 .keeps_rank_order = plan.schedule.order <= OrderClass::rank_order,
                 .allows_in_place = plan.schedule.allows_in_place,
                 .allows_out_of_place = plan.schedule.allows_out_of_place,
                 .name_safe = way.algorithm->name_safe,
                 .name_safe_in_place = way.algorithm->name_safe_in_place};
  for (std::uint32_t root = 1; root < way.plans.size(); ++root) {
    Request request = way.request;
    request.root = root;
    if (way.algorithm->make(request).order > OrderClass::rank_order) way.demands.disordered_roots.push_back(root);
  }
  if (!plan.opens && plan.exposes_per_round > shape_.num_slots())
    way.refusal = fmt::format("it exposes {} a round, and a rank has {}", counted(plan.exposes_per_round, "time"),
                              counted(shape_.num_slots(), "staging slot"));
}

Result<const Plan*> Portfolio::plan(Way& way, std::uint32_t root) {
  if (way.plans.empty()) way.plans.resize(facts_of(way.collective).has_root ? shape_.num_ranks : 1);
  std::unique_ptr<const Plan>& kept = way.plans[way.plans.size() == 1 ? 0 : root];
  if (kept != nullptr) return kept.get();
  Request request = way.request;
  request.root = root;
  Result<Plan> made = make_plan(way.own ? *way.own : way.algorithm->make(request), rank_, is_interrupted_, hosts_);
  if (!made.ok()) return made.status();
  kept = std::make_unique<const Plan>(std::move(*made));
  return kept.get();
}

}  // namespace tutti
