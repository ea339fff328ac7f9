// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator/settings.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti {

namespace {

// Which variable forces the algorithm of which collective.
struct Forcing {
  VariableId id;
  Collective collective;
};
constexpr Forcing kForcing[] = {
    {VariableId::allreduce_algorithm, Collective::all_reduce},
    {VariableId::allgather_algorithm, Collective::all_gather},
    {VariableId::reducescatter_algorithm, Collective::reduce_scatter},
    {VariableId::broadcast_algorithm, Collective::broadcast},
    {VariableId::reduce_algorithm, Collective::reduce},
    {VariableId::alltoall_algorithm, Collective::all_to_all},
    {VariableId::gather_algorithm, Collective::gather},
    {VariableId::scatter_algorithm, Collective::scatter},
    {VariableId::scan_algorithm, Collective::scan},
    {VariableId::exscan_algorithm, Collective::exclusive_scan},
    {VariableId::barrier_algorithm, Collective::barrier},
    {VariableId::allgatherv_algorithm, Collective::all_gather_v},
    {VariableId::reducescatterv_algorithm, Collective::reduce_scatter_v},
    {VariableId::alltoallv_algorithm, Collective::all_to_all_v},
    {VariableId::gatherv_algorithm, Collective::gather_v},
    {VariableId::scatterv_algorithm, Collective::scatter_v},
};

std::chrono::nanoseconds to_chrono(Nanos nanos) { return std::chrono::nanoseconds(nanos.value()); }

}  // namespace

std::string_view forcing_variable(Collective collective) {
  for (const Forcing& each : kForcing)
    if (each.collective == collective) return row_of(each.id).name;
  return "";
}

void Settings::use_profile(ProfileChoice choice) {
  profile = std::move(choice);
  const MachineProfile& numbers = *profile.profile;
  region.staging_slot = staging_slot.value_or(std::max<std::uint64_t>(numbers.rounds_widest, numbers.rounds_usual));
  region.message_slot = staging_slot.value_or(numbers.rounds_usual);
  region.memory_of_slots = numbers.memory_slots;
  region.memory_of_connections = numbers.memory_connections;
}

void Settings::use_table(TableChoice choice, bool profile_is_named) {
  table = std::move(choice);
  if (table.table == nullptr) return;
  // What the table says of the profile has been read with it.
  if (Result<ProfileChoice> under = profile_under(*table.table, profile, profile_is_named); under.ok())
    use_profile(std::move(*under));
  if (staging_slot) return;
  for (const TableSection& section : table.table->sections)
    for (const TableRange& range : section.ranges)
      if (range.way.tuning.round) region.staging_slot = std::max(region.staging_slot, *range.way.tuning.round);
}

Settings Settings::from(const Variables& variables) {
  Settings settings;
  if (const auto bytes = variables.get<VariableId::staging_slot>()) settings.staging_slot = bytes->value();
  const std::string profile = variables.text(VariableId::profile);
  settings.use_profile(choose_profile(profile));
  settings.use_table(choose_table(variables), !same_name(profile, kAutomaticProfile));
  settings.region.staging_depth = static_cast<std::uint32_t>(variables.get<VariableId::staging_depth>());
  settings.region.message_depth = settings.region.staging_depth;
  settings.walker = variables.get_as<WalkerChoice, VariableId::walker>();
  settings.stores = variables.get_as<StoresChoice, VariableId::staging_stores>();
  for (const auto& [id, collective] : kForcing)
    if (const std::string name = variables.text(id); name != "auto")
      settings.forced_of(collective) = {name, AlgorithmFile::of(row_of(id).name, name)};
  if (const auto bytes = variables.get<VariableId::staging_spread>()) settings.staging_spread = bytes->value();
  if (const auto bytes = variables.get<VariableId::stream_min>()) settings.stream_min = bytes->value();
  if (const auto bytes = variables.get<VariableId::attach_min>()) settings.attach_min = bytes->value();
  if (const auto bytes = variables.get<VariableId::ring_bidir_ag_max_size>())
    settings.ring_bidir_ag_max_size = bytes->value();
  settings.transport = {.is_ofi = variables.text(VariableId::transport) == "ofi",
                        .provider = variables.text(VariableId::ofi_provider),
                        .connections = static_cast<std::uint32_t>(variables.get<VariableId::sockets_per_peer>()),
                        .congestion = variables.text(VariableId::tcp_congestion)};
  settings.messages_lie_near_sender = variables.get<VariableId::shm_locality>() == 1;
  if (const auto spin = variables.get<VariableId::spin>()) settings.spin = to_chrono(*spin);
  settings.leave_busy_cores = variables.get<VariableId::leave_busy_cores>();
  if (const auto yield = variables.get<VariableId::yield>()) settings.yield = to_chrono(*yield);
  settings.timeout = to_chrono(variables.get<VariableId::timeout>());
  settings.late_warning = to_chrono(variables.get<VariableId::late_warning>());
  settings.caches = CacheSizes::of_this_machine();
  return settings;
}

shm::RegionShape Settings::region_for(std::uint32_t num_ranks, std::uint32_t num_here) const {
  // Direct algorithms expose something else to each of the others, and run a round ahead.
  constexpr std::uint32_t kMostSlots = 64;
  shm::RegionShape shape = region;
  shape.num_ranks = num_ranks;
  if (num_here != num_ranks) shape.num_here = num_here;
  shape.staging_slots =
      std::clamp(2 * (shape.num_local() - 1), shape.staging_depth, std::max(shape.staging_depth, kMostSlots));
  return shape;
}

std::string Settings::agreement(const Variables& variables) const {
  // What lies where in the region belongs to the version.
  std::string lines = fmt::format("{}={}\n", kVersionLine, TUTTI_PROJECT_VERSION);
  lines += fmt::format("{}={}\n", row_of(VariableId::profile).name, profile.agreement());
  lines += fmt::format("{}={}\n", row_of(VariableId::table).name, table.agreement());
  for (const auto& [id, collective] : kForcing) {
    const std::optional<AlgorithmFile>& file = forced_of(collective).file;
    lines += fmt::format("{}={}\n", row_of(id).name, file ? file->agreement() : variables.text(id));
  }
  for (const VariableId id :
       {VariableId::ring_bidir_ag_max_size, VariableId::walker, VariableId::staging_slot, VariableId::staging_depth,
        VariableId::staging_spread, VariableId::attach_min, VariableId::fabric, VariableId::transport,
        VariableId::ofi_provider, VariableId::sockets_per_peer})
    lines += fmt::format("{}={}\n", row_of(id).name, variables.text(id));
  return lines;
}

}  // namespace tutti
