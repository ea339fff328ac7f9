// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/export/profile_export.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "runtime/selection/profile_file.hpp"

namespace tutti::cli {

namespace {

// Whom a section's rules are for.
struct Scope {
  Collective collective = Collective::all_reduce;
  std::uint32_t most_ranks = kAnyRanks;
  bool symmetric = false;
  bool crowded = false;
};

class ProfileRules {
 public:
  ProfileRules(const DecisionTable& table, const MachineProfile& base) : table_(table), base_(base) {}

  ExportedProfile made() {
    std::vector<const TableSection*> sections;
    for (const TableSection& section : table_.sections) {
      if (section.hosts > 1) {
        left_out_.push_back(fmt::format("{}:{}: it is for {} hosts, of which rules do not say how many there are",
                                        table_.title(), section.line, section.hosts));
      } else if (section.types == TypeClass::narrow) {
        left_out_.push_back(fmt::format("{}:{}: rules do not tell types apart, and keep those of others",
                                        table_.title(), section.line));
      } else {
        sections.push_back(&section);
      }
    }
    // The first rule that fits is taken: the narrow scopes come first.
    std::stable_sort(sections.begin(), sections.end(),
                     [&](const TableSection* a, const TableSection* b) { return order_of(*a) < order_of(*b); });
    for (const TableSection* const section : sections) add(*section, scope_of(*section, sections));
    ExportedProfile made{.profile = base_, .left_out = std::move(left_out_)};
    made.profile.rules = std::move(rules_);
    made.profile.rules.insert(made.profile.rules.end(), base_.rules.begin(), base_.rules.end());
    return made;
  }

 private:
  [[nodiscard]] bool is_crowded(const TableSection& section) const {
    return table_.cores > 0 && section.ranks > table_.cores;
  }
  [[nodiscard]] std::tuple<Collective, bool, std::uint32_t, bool> order_of(const TableSection& section) const {
    return {section.collective, !is_crowded(section), section.ranks, section.memory != TableMemory::symmetric};
  }
  [[nodiscard]] Scope scope_of(const TableSection& section, const std::vector<const TableSection*>& all) const {
    std::uint64_t next = 0;
    for (const TableSection* const other : all)
      if (other->collective == section.collective && is_crowded(*other) == is_crowded(section) &&
          other->ranks > section.ranks && (next == 0 || other->ranks < next))
        next = other->ranks;
    const double most =
        next == 0 ? 2.0 * section.ranks : std::sqrt(static_cast<double>(section.ranks) * static_cast<double>(next));
    return {.collective = section.collective,
            .most_ranks = static_cast<std::uint32_t>(most),
            .symmetric = section.memory == TableMemory::symmetric,
            .crowded = is_crowded(section)};
  }

  void add(const TableSection& section, const Scope& scope) {
    std::uint64_t begin = 0;
    for (const TableRange& range : section.ranges) {
      if (range.way.algorithm.empty()) {
        add_of_base(scope, section.ranks, begin, range.most_bytes);
      } else {
        if (!range.way.tuning.is_empty())
          left_out_.push_back(
              fmt::format("{}:{}: rules do not say {}", table_.title(), range.line, range.way.tuning.to_string()));
        add_rule(scope, range.most_bytes, with_cores(range.way.algorithm), false);
      }
      begin = range.most_bytes == kNoEnd ? kNoEnd : range.most_bytes + 1;
    }
  }
  // What the table leaves to the profile: the rules that did it, so that those behind do not.
  void add_of_base(const Scope& scope, std::uint32_t ranks, std::uint64_t begin, std::uint64_t most_bytes) {
    for (const Rule& rule : base_.rules) {
      const bool fits = rule.collective == scope.collective && !rule.hosts && ranks <= rule.most_ranks &&
                        (!rule.symmetric || scope.symmetric) && (!rule.crowded || scope.crowded);
      const std::uint64_t most =
          rule.most_bytes.is_relative() ? most_bytes : std::min<std::uint64_t>(rule.most_bytes, most_bytes);
      if (!fits || most < begin) continue;
      Rule& added = add_rule(scope, most, rule.algorithm, rule.attached);
      if (rule.most_bytes.is_relative()) added.most_bytes = rule.most_bytes;
      if (!rule.attached && !rule.most_bytes.is_relative() && most >= most_bytes) return;
    }
    left_out_.push_back(fmt::format("{}: {} of {} up to {} B are left to the catalogue, which rules cannot say",
                                    table_.title(), name_of(scope.collective), counted(ranks, "rank"), most_bytes));
  }
  Rule& add_rule(const Scope& scope, std::uint64_t most_bytes, const std::string& algorithm, bool attached) {
    Rule& rule = extends_last(scope, algorithm, attached) ? rules_.back() : rules_.emplace_back();
    rule.collective = scope.collective;
    rule.most_ranks = scope.most_ranks;
    rule.most_bytes = most_bytes == kNoEnd ? kAnySize : most_bytes;
    rule.symmetric = scope.symmetric;
    rule.crowded = scope.crowded;
    rule.attached = attached;
    rule.algorithm = algorithm;
    return rule;
  }
  // Ranges that differ in what rules do not say are one rule.
  [[nodiscard]] bool extends_last(const Scope& scope, const std::string& algorithm, bool attached) const {
    if (rules_.empty()) return false;
    const Rule& last = rules_.back();
    return last.collective == scope.collective && last.most_ranks == scope.most_ranks &&
           last.symmetric == scope.symmetric && last.crowded == scope.crowded && last.attached == attached &&
           last.algorithm == algorithm && !last.most_bytes.is_relative();
  }
  // A parameter that is the number of cores is that of whoever reads the profile.
  [[nodiscard]] std::string with_cores(const std::string& algorithm) const {
    constexpr std::string_view kByCores = "two_shot_few";
    const std::string here = fmt::format("{}({})", kByCores, table_.cores);
    return algorithm == here || (algorithm == kByCores && table_.cores == 2)
               ? fmt::format("{}{}", kByCores, kCoresParameter)
               : algorithm;
  }

  const DecisionTable& table_;
  const MachineProfile& base_;
  std::vector<Rule> rules_;
  std::vector<std::string> left_out_;
};

}  // namespace

Result<ExportedProfile> export_to_profile(const DecisionTable& table, const MachineProfile& base,
                                          const std::string& name) {
  if (table.measured_peer() != kOwnPeer)
    return wrong_argument(
        fmt::format("{} is of {}; only a table of Tutti becomes a profile", table.title(), table.measured_peer()));
  ExportedProfile made = ProfileRules(table, base).made();
  TUTTI_TRY(overrule(table.numbers, table.title(), made.profile));
  made.profile.name = name;
  made.profile.place.clear();
  made.profile.about = fmt::format("made by tutti export --to profile; tuned {} on {}", table.made, table.machine);
  return made;
}

}  // namespace tutti::cli
