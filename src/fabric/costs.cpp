// SPDX-License-Identifier: Apache-2.0
#include "fabric/costs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fabric/files/fields.hpp"

namespace tutti::fabric {

namespace {

constexpr std::string_view kMemory = "memory";
constexpr std::string_view kCosts = "costs";
constexpr std::string_view kMemoryPrefix = "memory_";
constexpr std::string_view kQueuePrefix = "queue_";

template <typename Fields>
void add_names(std::string_view prefix, const Fields& fields, std::vector<CommonParameter>& names) {
  for (const auto& field : fields) names.push_back({fmt::format("{}{}", prefix, field.name), field.about});
}

// The field that has this name behind the prefix; null where none has.
template <typename Fields>
auto find(std::string_view prefix, const Fields& fields, std::string_view name) -> decltype(fields.data()) {
  for (const auto& field : fields)
    if (same_name(fmt::format("{}{}", prefix, field.name), name)) return &field;
  return nullptr;
}

template <typename Owner>
Status set_all(const Field<Owner>& field, std::string_view value, std::vector<Owner>& owners) {
  for (Owner& owner : owners) TUTTI_TRY(set(field, value, owner));
  return {};
}

Status apply(const Parameter& parameter, Fabric& fabric) {
  const std::string& name = parameter.name;
  if (same_name(name, kMemory)) return choose_memory(parameter.value, fabric);
  if (same_name(name, kCosts)) return choose_costs(parameter.value, fabric);
  if (const auto* field = find("", kCostFields, name)) return set_all(*field, parameter.value, fabric.costs);
  if (const auto* field = find(kMemoryPrefix, kMemoryFields, name))
    return set_all(*field, parameter.value, fabric.memories);
  if (const auto* field = find(kQueuePrefix, kQueueFields, name)) return set(*field, parameter.value, fabric.queue);
  if (const auto* field = find("", kCoreFields, name)) return set_all(*field, parameter.value, fabric.cores);
  return {};
}

}  // namespace

const std::vector<CommonParameter>& common_parameters() {
  static const std::vector<CommonParameter> all = [] {
    std::vector<CommonParameter> names;
    add_names("", kCostFields, names);
    names.push_back({std::string(kCosts), "the kind of costs that all ranks have"});
    names.push_back({std::string(kMemory), "the kind of memory that all buffers lie in"});
    add_names(kMemoryPrefix, kMemoryFields, names);
    add_names(kQueuePrefix, kQueueFields, names);
    add_names("", kCoreFields, names);
    return names;
  }();
  return all;
}

bool is_common(std::string_view name) {
  const auto& all = common_parameters();
  return std::any_of(all.begin(), all.end(), [&](const CommonParameter& each) { return same_name(each.name, name); });
}

Status apply_common(std::span<const Parameter> parameters, Fabric& fabric) {
  for (const Parameter& parameter : parameters)
    if (const Status status = apply(parameter, fabric); !status.ok()) return about(parameter, status);
  return {};
}

namespace {

// Gives every rank the one of `owners` that has this name.
template <typename Owner>
Status choose(std::string_view noun, std::string_view name, const std::vector<Owner>& owners,
              std::uint32_t RankPlacement::*member, std::vector<RankPlacement>& ranks) {
  std::string known;
  for (std::uint32_t number = 0; number < owners.size(); ++number) {
    known += (known.empty() ? "" : ", ") + printable(owners[number].name);
    if (!same_name(owners[number].name, name)) continue;
    for (RankPlacement& place : ranks) place.*member = number;
    return {};
  }
  return {Code::invalid_argument, fmt::format("there is no {} {} here; there is {}", noun, in_quotes(name), known)};
}

}  // namespace

Status choose_memory(std::string_view name, Fabric& fabric) {
  return choose("memory", name, fabric.memories, &RankPlacement::memory, fabric.ranks);
}

Status choose_costs(std::string_view name, Fabric& fabric) {
  return choose("kind of costs", name, fabric.costs, &RankPlacement::costs, fabric.ranks);
}

}  // namespace tutti::fabric
