// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/members.hpp"

#include <cmath>
#include <utility>

#include "fabric/files/load.hpp"
#include "simulate/references/correction.hpp"

namespace tutti::simulate {

Result<std::vector<Member>> members_of(const References& references, const Fit& fit) {
  std::vector<Member> members;
  for (const Series& series : references.series) {
    if (series.metric != Metric::time || !is_about(fit, series)) continue;
    // Of several ways the fastest counts: they differ in their costs.
    const ReferenceWay& way = series.ways.front();
    TUTTI_TRY_ASSIGN(const fabric::Fabric fabric, fabric::load_fabric(way.fabric));
    members.push_back(
        {.series = &series,
         .fabric = *find_fabric(fit, way.fabric),
         .ranks = fabric.num_ranks(),
         .way = name_of_way(*find_fabric(fit, way.fabric), way.algorithm, way.parts, way.copies, way.by_name),
         .is_compiled = is_compiled_for(fabric, way.algorithm, fabric.num_ranks())});
  }
  return members;
}

double noise_of(const Compared& time) { return time.series->uncertainty / time.published / std::sqrt(3.0); }

Residual residual_of(const Member& member, const Compared& time) {
  return {member.way, member.ranks, time.bytes, std::log(time.published / *time.simulated), noise_of(time)};
}

}  // namespace tutti::simulate
