// SPDX-License-Identifier: Apache-2.0
// Which decision table a communicator obeys: the one that TUTTI_TABLE names, else the user's for this machine, else the
// system's. And which one calls on a simulated fabric obey. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/variables/variables.hpp"
#include "runtime/selection/profile_choice.hpp"
#include "table/decision_table.hpp"

namespace tutti {

inline constexpr std::string_view kAutomaticTable = "auto";
inline constexpr std::string_view kNoTable = "none";
inline constexpr std::string_view kSystemTables = "/etc/tutti/tables";

struct TableChoice {
  std::shared_ptr<const DecisionTable> table =
      nullptr;                             // null: none; shared by settings that are copied from each other
  std::string why = "";                    // why this one, or none
  Status unread = {};                      // why it is not the one that TUTTI_TABLE names
  std::vector<std::string> warnings = {};  // of tables that were passed over

  // "/home/me/my.toml, TUTTI_TABLE names it".
  [[nodiscard]] std::string to_string() const;
  // What the ranks compare: its name and a digest of its text.
  [[nodiscard]] std::string agreement() const;
};

// Where tables are looked for if nothing is said, by the machine's fingerprint: FOLDER/tables/FINGERPRINT.toml.
struct TableFolders {
  std::string user;  // empty: there is none
  std::string system = std::string(kSystemTables);
};
[[nodiscard]] std::string table_of_machine(std::string_view folder, std::string_view fingerprint);

// What TUTTI_TABLE says: auto, none, a file (a text with a slash in it, or one that ends in .toml), or a folder of
// tables. A named one that cannot be read or is for another peer is `unread`; others are passed over with a warning, as
// is any table of another machine. In virtual time, a named table may be a fabric's; this machine then ignores it.
[[nodiscard]] TableChoice choose_table(std::string_view wanted, const TableFolders& folders,
                                       bool in_virtual_time = false);
// What these variables say.
[[nodiscard]] TableChoice choose_table(const Variables& variables);

// The table of calls on the simulated fabric with that fingerprint: what TUTTI_TABLE names, if it is of such a fabric.
// One that cannot be read, or names an algorithm that does not exist, is `unread`; one of another fabric is passed over
// with a warning. Nothing is looked for elsewhere, so that a simulation says the same on every machine.
[[nodiscard]] TableChoice choose_fabric_table(std::string_view wanted, std::string_view fingerprint);

// The profile that the table was tuned with, and its numbers over that; where TUTTI_PROFILE names another, that alone.
[[nodiscard]] Result<ProfileChoice> profile_under(const DecisionTable& table, const ProfileChoice& profile,
                                                  bool is_named);

}  // namespace tutti
