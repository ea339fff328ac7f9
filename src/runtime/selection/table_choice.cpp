// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/table_choice.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

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

Result<DecisionTable> load_own_table(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostTableBytes);
  if (!text.ok()) return text.status();
  Result<DecisionTable> table = read_table(*text, path);
  if (!table.ok()) return table;
  if (table->peer != kOwnPeer)
    return Status(Code::invalid_argument,
                  fmt::format("{}: peer is {}: the table is for that; 'tutti export' translates it", path,
                              in_quotes(table->peer)));
  if (table->on_devices)
    return Status(
        Code::invalid_argument,
        fmt::format(
            "{}: the table is for devices (on = \"devices\"); name it in TUTTI_DEVICE_TABLE, not in TUTTI_TABLE",
            path));
  MachineProfile any;
  if (const Status numbers = overrule(table->numbers, path, any); !numbers.ok()) return numbers;
  if (!table->profile.empty())
    if (const Result<MachineProfile> base = find_shipped_profile(table->profile); !base.ok())
      return base.status().with_context(fmt::format("{}: profile.based_on", path));
  return table;
}

// The file's table, if it is for this machine.
void take(const std::string& path, std::string_view fingerprint, std::string why, bool is_named, TableChoice& choice) {
  Result<DecisionTable> table = load_own_table(path);
  if (!table.ok()) {
    if (is_named)
      choice.unread = table.status().with_context("TUTTI_TABLE");
    else
      choice.warnings.push_back(fmt::format("the decision table is not obeyed: {}", table.status().message()));
    return;
  }
  if (table->fingerprint != fingerprint && table->fingerprint != kAnyMachine) {
    choice.warnings.push_back(
        fmt::format("the decision table {} is not obeyed: machine.fingerprint is {} ({}), and this machine's is {}; "
                    "\"any\" there makes every machine obey it",
                    path, in_quotes(table->fingerprint), table->machine, in_quotes(fingerprint)));
    return;
  }
  choice.table = std::make_shared<const DecisionTable>(std::move(*table));
  choice.why = std::move(why);
}

}  // namespace

std::string table_of_machine(std::string_view folder, std::string_view fingerprint) {
  return fmt::format("{}/{}.toml", folder, fingerprint);
}

std::string TableChoice::agreement() const {
  if (!unread.ok()) return "(unreadable)";
  if (table == nullptr) return "(none)";
  return printable(fmt::format("{} (digest {:016x})", table->title(), table->digest));
}

TableChoice choose_table(std::string_view wanted, const TableFolders& folders) {
  TableChoice choice;
  if (same_name(wanted, kNoTable)) {
    choice.why = "TUTTI_TABLE says none";
    return choice;
  }
  const bool is_automatic = wanted.empty() || same_name(wanted, kAutomaticTable);
  const std::string named(wanted);
  const std::string fingerprint = fingerprint_of(identity_of_machine());
  if (!is_automatic && !is_folder(named)) {
    take(named, fingerprint, "TUTTI_TABLE names it", true, choice);
    if (choice.table != nullptr || !choice.unread.ok()) return choice;
  } else if (!is_automatic) {
    const std::string path = table_of_machine(named, fingerprint);
    if (is_there(path))
      take(path, fingerprint, "TUTTI_TABLE names its folder", false, choice);
    else
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
  return choose_table(variables.text(VariableId::table), {.user = data.empty() ? "" : data + "/tables"});
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
