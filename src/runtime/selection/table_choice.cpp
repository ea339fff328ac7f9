// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/table_choice.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "base/digest.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "runtime/selection/profile_file.hpp"
#include "table/machine_identity.hpp"
#include "table/table_file.hpp"

namespace tutti {

namespace {

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

Result<DecisionTable> load_table(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostTableBytes);
  if (!text.ok()) return text.status();
  return read_table(*text, path);
}

// Whether this machine's calls can obey it.
Status check_own(const DecisionTable& table) {
  const std::string& path = table.place;
  if (table.is_of_fabric())
    return wrong_argument(fmt::format("{}: peer is {}: only calls on that fabric obey this table; set TUTTI_FABRIC={}",
                                      path, in_quotes(table.peer), table.peer));
  if (table.peer != kOwnPeer)
    return wrong_argument(fmt::format("{}: peer is {}: the table is for that; 'tutti export' translates it", path,
                                      in_quotes(table.peer)));
  if (table.on_devices)
    return wrong_argument(fmt::format(
        "{}: the table is for devices (on = \"devices\"); name it in TUTTI_DEVICE_TABLE, not in TUTTI_TABLE", path));
  MachineProfile any;
  TUTTI_TRY(overrule(table.numbers, path, any));
  if (!table.profile.empty())
    if (const Result<MachineProfile> base = find_shipped_profile(table.profile); !base.ok())
      return base.status().with_context(fmt::format("{}: profile.based_on", path));
  return {};
}

// Whether all its algorithms are in the catalogue. That is not asked of other peers' tables when they are read.
Status check_names(const DecisionTable& table) {
  for (const TableSection& section : table.sections)
    for (const TableRange& range : section.ranges) {
      const std::string_view name = std::string_view(range.way.algorithm).substr(0, range.way.algorithm.find('('));
      if (!name.empty() && find_algorithm(section.collective, name) == nullptr)
        return wrong_argument(fmt::format("{}:{}: {} is no algorithm of {}; 'tutti algorithms' lists them", table.place,
                                          range.line, in_quotes(name), name_of(section.collective)));
    }
  return {};
}

std::string words_of_other(const DecisionTable& table, std::string_view whose, std::string_view fingerprint) {
  return fmt::format(
      "the decision table {} is not obeyed: machine.fingerprint is {} ({}), but this {}'s is {}; with "
      "machine.fingerprint = \"any\", every {} would obey it",
      table.place, in_quotes(table.fingerprint), table.machine, whose, in_quotes(fingerprint), whose);
}

// The file's table, if it is for this machine.
void take(const std::string& path, std::string_view fingerprint, std::string why, bool is_named, TableChoice& choice) {
  Result<DecisionTable> table = load_table(path);
  if (const Status status = table.ok() ? check_own(*table) : table.status(); !status.ok()) {
    if (is_named)
      choice.unread = status.with_context("TUTTI_TABLE");
    else
      choice.warnings.push_back(fmt::format("the decision table is not obeyed: {}", status.message()));
    return;
  }
  if (table->fingerprint != fingerprint && table->fingerprint != kAnyMachine) {
    choice.warnings.push_back(words_of_other(*table, "machine", fingerprint));
    return;
  }
  choice.table = std::make_shared<const DecisionTable>(std::move(*table));
  choice.why = std::move(why);
}

}  // namespace

std::string table_of_machine(std::string_view folder, std::string_view fingerprint) {
  return fmt::format("{}/{}.toml", folder, fingerprint);
}

std::string TableChoice::to_string() const {
  return fmt::format("{}, {}", table == nullptr ? "none" : table->title(), why);
}

std::string TableChoice::agreement() const {
  if (!unread.ok()) return "(unreadable)";
  if (table == nullptr) return "(none)";
  return printable(fmt::format("{} (digest {:016x})", table->title(), table->digest));
}

TableChoice choose_table(std::string_view wanted, const TableFolders& folders, bool in_virtual_time) {
  TableChoice choice;
  if (same_name(wanted, kNoTable)) {
    choice.why = "TUTTI_TABLE says none";
    return choice;
  }
  const bool is_automatic = wanted.empty() || same_name(wanted, kAutomaticTable);
  const std::string named(wanted);
  const std::string fingerprint = fingerprint_of(identity_of_machine());
  const auto is_of_fabric = [&] {
    const Result<DecisionTable> table = load_table(named);
    return table.ok() && table->is_of_fabric();
  };
  if (is_automatic || (in_virtual_time && !is_folder(named) && is_of_fabric())) {
    // Falls through to the user's and the system's tables below.
  } else if (!is_folder(named)) {
    take(named, fingerprint, "TUTTI_TABLE names it", true, choice);
    if (choice.table != nullptr || !choice.unread.ok()) return choice;
  } else {
    const std::string path = table_of_machine(named, fingerprint);
    if (is_there(path))
      take(path, fingerprint, "TUTTI_TABLE names its folder", false, choice);
    else if (!in_virtual_time)
      choice.warnings.push_back(
          fmt::format("TUTTI_TABLE={} has no table {}.toml for this machine", named, fingerprint));
    if (choice.table != nullptr) return choice;
  }
  const std::pair<const std::string&, std::string_view> usual[] = {{folders.user, "the user's for this machine"},
                                                                   {folders.system, "the system's for this machine"}};
  for (const auto& [folder, why] : usual) {
    if (folder.empty()) continue;
    const std::string path = table_of_machine(folder, fingerprint);
    if (choice.table == nullptr && is_there(path)) take(path, fingerprint, std::string(why), false, choice);
  }
  if (choice.table == nullptr) choice.why = fmt::format("this machine ({}) has not been tuned", fingerprint);
  return choice;
}

TableChoice choose_table(const Variables& variables) {
  const std::string& data = variables.data_folder();
  return choose_table(variables.text(VariableId::table), {.user = data.empty() ? "" : data + "/tables"},
                      !variables.text(VariableId::fabric).empty());
}

TableChoice choose_fabric_table(std::string_view wanted, std::string_view fingerprint) {
  TableChoice choice;
  choice.why = "TUTTI_TABLE names no table of the fabric";
  if (wanted.empty() || same_name(wanted, kAutomaticTable) || same_name(wanted, kNoTable)) return choice;
  std::string path(wanted);
  if (is_folder(path)) {
    path = table_of_machine(path, fingerprint);
    if (!is_there(path)) {
      choice.warnings.push_back(
          fmt::format("TUTTI_TABLE={} has no table {}.toml for this fabric", wanted, fingerprint));
      return choice;
    }
  }
  Result<DecisionTable> table = load_table(path);
  if (table.ok() && !table->is_of_fabric()) return choice;
  if (const Status status = table.ok() ? check_names(*table) : table.status(); !status.ok()) {
    choice.unread = status.with_context("TUTTI_TABLE");
    return choice;
  }
  if (table->fingerprint != fingerprint && table->fingerprint != kAnyMachine) {
    choice.warnings.push_back(words_of_other(*table, "fabric", fingerprint));
    return choice;
  }
  choice.table = std::make_shared<const DecisionTable>(std::move(*table));
  choice.why = "TUTTI_TABLE names it";
  return choice;
}

Result<ProfileChoice> profile_under(const DecisionTable& table, const ProfileChoice& profile, bool is_named) {
  if (is_named && !same_name(table.profile, profile.profile->name)) return profile;
  ProfileChoice choice = profile;
  if (!table.profile.empty() && !same_name(table.profile, profile.profile->name)) {
    Result<MachineProfile> base = find_shipped_profile(table.profile);
    if (!base.ok()) return base.status();
    choice.profile = std::make_shared<const MachineProfile>(std::move(*base));
    choice.why = fmt::format("{} was tuned with it", table.title());
  }
  if (table.numbers.entries.empty()) return choice;
  MachineProfile changed = *choice.profile;
  TUTTI_TRY(overrule(table.numbers, table.title(), changed));
  changed.digest = digest(fmt::format("{:016x}", table.digest), changed.digest);
  choice.profile = std::make_shared<const MachineProfile>(std::move(changed));
  choice.why += fmt::format(", with numbers of {}", table.title());
  return choice;
}

}  // namespace tutti
