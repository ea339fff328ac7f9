// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/correction.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulate/references/against.hpp"
#include "simulate/references/members.hpp"
#include "simulate/references/shipped.hpp"

namespace tutti::simulate {

std::string name_of_way(std::string_view algorithm, std::uint32_t parts, std::uint32_t copies, bool by_name) {
  return fmt::format("{}, {} parts, {} copies{}", algorithm, parts, copies, by_name ? ", by name" : "");
}

Result<Corrections> Corrections::of_shipped() {
  Corrections all;
  for (const ShippedReferences& shipped : shipped_references()) {
    TUTTI_TRY_ASSIGN(const References references, read_references(shipped.text, shipped.name));
    TUTTI_TRY_ASSIGN(Corrections made, of(references));
    all.fabrics_.merge(made.fabrics_);
  }
  return all;
}

Result<Corrections> Corrections::of(const References& references) {
  Corrections corrections;
  for (const Fit& fit : references.fits) {
    if (references.deviations <= 0) continue;
    TUTTI_TRY_ASSIGN(const std::vector<Member> members, members_of(references, fit));
    std::vector<const Series*> series;
    for (const Member& member : members) series.push_back(member.series);
    if (series.empty()) continue;
    TUTTI_TRY_ASSIGN(const std::vector<Compared> compared, compare(references, series, nullptr));
    std::vector<Residual> known;
    for (const Compared& time : compared)
      for (const Member& member : members)
        if (member.series == time.series) known.push_back(residual_of(member, time));
    corrections.fabrics_.emplace(fit.fabric, OfFabric{.collective = references.collective,
                                                      .residuals = Residuals(std::move(known)),
                                                      .deviations = references.deviations});
  }
  return corrections;
}

std::optional<Correction> Corrections::find(const Asked& asked) const {
  if (asked.fabric.find(',') != std::string_view::npos) return std::nullopt;
  const auto found = fabrics_.find(asked.fabric.substr(0, asked.fabric.find(':')));
  if (found == fabrics_.end() || found->second.collective != asked.collective) return std::nullopt;
  const Expected expected = found->second.residuals.expected(
      name_of_way(asked.algorithm, asked.parts, asked.copies, asked.by_name), asked.ranks, asked.bytes);
  const double reach = found->second.deviations * expected.deviation;
  return Correction{.factor = std::exp(expected.log_ratio),
                    .low = std::exp(expected.log_ratio - reach),
                    .high = std::exp(expected.log_ratio + reach)};
}

}  // namespace tutti::simulate
