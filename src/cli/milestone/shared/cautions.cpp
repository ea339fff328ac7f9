// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/shared/cautions.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::cli {

void GroupedCautions::add(std::string subject, std::string detail, std::string words, bool is_bad) {
  auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) {
    return each.subject == subject && each.words == words && each.is_bad == is_bad;
  });
  if (group == groups_.end())
    group = groups_.insert(groups_.end(), Group{std::move(subject), std::move(words), is_bad, {}});
  group->details.push_back(std::move(detail));
}

void GroupedCautions::move_to(std::vector<report::Caution>& cautions) {
  constexpr std::size_t kMost = 3;
  for (Group& each : groups_) {
    const std::size_t count = each.details.size();
    const std::size_t shown = count > kMost + 1 ? kMost : count;
    each.details.resize(shown);
    cautions.push_back({fmt::format("{}, {}{}: {}", each.subject, fmt::join(each.details, ", "),
                                    shown < count ? fmt::format(" and {} more", count - shown) : "", each.words),
                        each.is_bad});
  }
  groups_.clear();
}

}  // namespace tutti::cli
