// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/chooser.hpp"

#include <utility>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "algorithms/registry.hpp"
#include "base/digest.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "base/variables/variable_choices.hpp"
#include "schedule/text/text_form.hpp"
#include "table/table_file.hpp"

namespace tutti::device {

namespace {

Result<DeviceRules::Wanted> read_wanted(std::string_view name, std::string& texts) {
  DeviceRules::Wanted wanted;
  wanted.name = name;
  if (!name.starts_with(variable_choices::kFilePrefix)) return wanted;
  const std::string path(name.substr(variable_choices::kFilePrefix.size()));
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, schedule_text::kMostBytes));
  texts += text;
  TUTTI_TRY_ASSIGN(wanted.schedule, read_schedule(text, path));
  return wanted;
}

// All ranks get such an error alike, and go on to the next algorithm. What one rank lacks ends its call.
bool is_of_the_call(const Status& status) {
  return status.code() == Code::unsupported || status.code() == Code::invalid_argument;
}

}  // namespace

Result<DeviceRules> DeviceRules::read(std::string_view wanted, std::string_view table, std::string_view place) {
  DeviceRules rules;
  std::string texts = fmt::format("{}\n{}", wanted, table);
  for (const std::string_view each : split(wanted, ',')) {
    const std::string_view part = trim(each);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const std::optional<Collective> collective = find_collective(trim(part.substr(0, std::min(equals, part.size()))));
    if (equals == std::string_view::npos || !collective)
      return wrong_argument(
          fmt::format("{} is not COLLECTIVE=ALGORITHM, such as all_reduce=two_shot", in_quotes(part)));
    TUTTI_TRY_ASSIGN(Wanted read, read_wanted(trim(part.substr(equals + 1)), texts));
    if (read.schedule && read.schedule->collective != *collective)
      return wrong_argument(fmt::format("the schedule {} is one of {}, not {}", read.name,
                                        name_of(read.schedule->collective), name_of(*collective)));
    if (!read.schedule && find_algorithm(*collective, read.name.substr(0, read.name.find('('))) == nullptr)
      return wrong_argument(fmt::format("{} has no algorithm {}; 'tutti algorithms' lists them", name_of(*collective),
                                        in_quotes(read.name)));
    rules.wanted[*collective] = std::move(read);
  }
  TUTTI_TRY_ASSIGN(rules.table, read_table(table, place));
  if (rules.table.peer != kOwnPeer)
    return wrong_argument(fmt::format("{} is a table of {}, not of {}", place, rules.table.peer, kOwnPeer));
  if (!rules.table.on_devices)
    return wrong_argument(fmt::format("{} is a table for processors; one for devices has on = \"devices\"", place));
  rules.digest = tutti::digest(texts);
  return rules;
}

const Chooser::Known& Chooser::known(Collective collective, std::uint32_t root, const std::string& name) {
  const auto [place, is_new] = known_.try_emplace(fmt::format("{} {} {}", name_of(collective), root, name),
                                                  Known{Status(Code::internal, ""), name});
  if (!is_new) return place->second;
  const Result<NamedAlgorithm> found = find_by_full_name(collective, name, ranks_.num_ranks());
  if (!found.ok()) {
    place->second.loaded = found.status();
    return place->second;
  }
  Request request = found->request;
  request.root = root;
  place->second.loaded = ranks_.schedules().load(*found->algorithm, request);
  return place->second;
}

const Chooser::Known& Chooser::wanted(Collective collective, std::uint32_t root, const DeviceRules::Wanted& wanted) {
  if (!wanted.schedule) return known(collective, root, wanted.name);
  const auto [place, is_new] = known_.try_emplace(fmt::format("{} {} {}", name_of(collective), root, wanted.name),
                                                  Known{Status(Code::internal, ""), wanted.name});
  if (!is_new) return place->second;
  if (facts_of(collective).has_root && wanted.schedule->root != root)
    place->second.loaded =
        Status(Code::unsupported, fmt::format("{} is of root {}, not {}", wanted.name, wanted.schedule->root, root));
  else
    place->second.loaded = ranks_.schedules().load(*wanted.schedule);
  return place->second;
}

Result<DeviceChoice> Chooser::try_out(const Known& known, DeviceCall call, bool is_symmetric,
                                      std::string_view why) const {
  if (!known.loaded.ok()) return known.loaded.status();
  call.schedule = *known.loaded;
  TUTTI_TRY(ranks_.objection(call, is_symmetric));
  return DeviceChoice{call.schedule, known.name, why};
}

Result<DeviceChoice> Chooser::choose(Collective collective, std::uint32_t root, const DeviceCall& call,
                                     std::uint64_t message_bytes, bool is_symmetric) {
  if (const auto found = rules_.wanted.find(collective); found != rules_.wanted.end())
    return try_out(wanted(collective, root, found->second), call, is_symmetric, "asked for");
  const std::optional<TableAnswer> answer =
      find_section(rules_.table, {.collective = collective,
                                  .ranks = ranks_.num_ranks(),
                                  .memory = is_symmetric ? TableMemory::symmetric : TableMemory::ordinary,
                                  .types = class_of(call.op.type)});
  if (answer) {
    const TableRange& range = answer->section->range_of(message_bytes);
    if (!range.way.algorithm.empty()) {
      Result<DeviceChoice> chosen =
          try_out(known(collective, root, range.way.algorithm), call, is_symmetric, "by the table");
      if (chosen.ok() || !is_of_the_call(chosen.status())) return chosen;
    }
  }
  Status why = {Code::unsupported, fmt::format("no algorithm does {} on devices", name_of(collective))};
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    if (algorithm->channel != Channel::staged && algorithm->channel != Channel::symmetric) continue;
    Result<DeviceChoice> chosen =
        try_out(known(collective, root, std::string(algorithm->name)), call, is_symmetric, "the first that can");
    if (chosen.ok() || !is_of_the_call(chosen.status())) return chosen;
    why = chosen.status();
  }
  return why;
}

}  // namespace tutti::device
