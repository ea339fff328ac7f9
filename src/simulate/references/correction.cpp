// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/correction.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulate/references/against.hpp"
#include "simulate/references/members.hpp"
#include "simulate/references/shipped.hpp"

namespace tutti::simulate {

std::string name_of_way(std::string_view fabric, std::string_view algorithm, std::uint32_t parts,
                        const OwnCopies& copies, bool by_name) {
  return fmt::format("{}: {}, {} parts, {} copies, {} of a part{}", fabric, algorithm, parts, copies.whole,
                     copies.parts, by_name ? ", by name" : "");
}

namespace {

std::string with_kernel(std::string way, bool is_compiled) { return is_compiled ? way : way + ", not compiled"; }

}  // namespace

Result<Corrections> Corrections::of_shipped(std::span<const std::string> fabrics) {
  Corrections all;
  for (const ShippedReferences& shipped : shipped_references()) {
    TUTTI_TRY_ASSIGN(const References references, read_references(shipped.text, shipped.name));
    TUTTI_TRY_ASSIGN(Corrections made, of(references, fabrics));
    std::move(made.fits_.begin(), made.fits_.end(), std::back_inserter(all.fits_));
  }
  return all;
}

Result<Corrections> Corrections::of(const References& references, std::span<const std::string> fabrics) {
  Corrections corrections;
  for (const Fit& fit : references.fits) {
    const bool is_wanted = std::any_of(fabrics.begin(), fabrics.end(),
                                       [&](const std::string& fabric) { return find_fabric(fit, fabric) != nullptr; });
    if (references.deviations <= 0 || !is_wanted) continue;
    TUTTI_TRY_ASSIGN(const std::vector<Member> members, members_of(references, fit));
    std::vector<const Series*> series;
    for (const Member& member : members) series.push_back(member.series);
    if (series.empty()) continue;
    TUTTI_TRY_ASSIGN(const std::vector<Compared> compared, compare(references, series, nullptr));
    std::vector<Residual> known;
    for (const Compared& time : compared)
      for (const Member& member : members)
        if (member.series == time.series) {
          known.push_back(residual_of(member, time));
          known.back().way = with_kernel(member.way, member.is_compiled);
        }
    corrections.fits_.push_back({.fit = fit,
                                 .collective = references.collective,
                                 .residuals = Residuals(std::move(known), references.beyond_ranks),
                                 .deviations = references.deviations});
  }
  return corrections;
}

std::optional<Correction> Corrections::find(const Asked& asked) const {
  if (asked.fabric.find(',') != std::string_view::npos) return std::nullopt;
  std::string way;
  const auto found = std::find_if(fits_.begin(), fits_.end(), [&](const OfFit& each) {
    const std::string* const fabric = find_fabric(each.fit, asked.fabric);
    if (fabric == nullptr || each.collective != asked.collective) return false;
    way =
        with_kernel(name_of_way(*fabric, asked.algorithm, asked.parts, asked.copies, asked.by_name), asked.is_compiled);
    return each.residuals.know(way);
  });
  if (found == fits_.end()) return std::nullopt;
  const Expected expected = found->residuals.expected(way, asked.ranks, asked.bytes);
  const double reach = found->deviations * expected.deviation;
  return Correction{.factor = std::exp(expected.log_ratio),
                    .low = std::exp(expected.log_ratio - reach),
                    .high = std::exp(expected.log_ratio + reach)};
}

}  // namespace tutti::simulate
