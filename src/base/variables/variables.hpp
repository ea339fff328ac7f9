// SPDX-License-Identifier: Apache-2.0
// The values of all variables (base/variables_table.hpp) for this process, checked and typed, each with where it came
// from. The environment goes before the user's tutti.conf, which goes before the system's. A variable's own name goes
// before its aliases wherever they stand. Immutable once read, a value; reading from several threads is safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.hpp"
#include "base/units.hpp"
#include "base/variables/environment.hpp"
#include "base/variables/variables_table.hpp"

namespace tutti {

// The words of a list, as in "coll,shm" or "^env".
struct VariableList {
  std::vector<std::string> words;
  bool inverted = false;

  // Whether the list takes the word: it names it or "all", or, inverted, it does neither.
  [[nodiscard]] bool contains(std::string_view word) const;
  bool operator==(const VariableList&) const = default;
};

struct VariableChoice {
  std::size_t index = 0;  // into the row's choices
  bool operator==(const VariableChoice&) const = default;
};

// Nothing: automatic, or not given where there is no default.
using VariableValue =
    std::variant<std::monostate, bool, std::int64_t, Bytes, Nanos, VariableChoice, VariableList, std::string>;

// The value that the text means for the row, or an error with the text found and what is allowed.
[[nodiscard]] Result<VariableValue> parse_variable(const VariableRow& row, std::string_view given);

// What parse_variable reads back to the same value; "auto" for automatic, "" for not given.
[[nodiscard]] std::string to_text(const VariableRow& row, const VariableValue& value);

// What a row allows, for people: "2 to 64", "auto, one_shot, two_shot, ring", "auto or 0s to 1m".
[[nodiscard]] std::string allowed_text(const VariableRow& row);

[[nodiscard]] std::string_view name_of(VariableType type);
[[nodiscard]] std::string_view name_of(VariableGroup group);

// The row that has this name or alias, hyphen and underscore and either case alike; null where none has.
[[nodiscard]] const VariableRow* find_variable(std::string_view name);

// The name of a variable of the library or of benchmarks (bench_variables.hpp) that is nearest to an unknown name;
// empty if none is near.
[[nodiscard]] std::string_view nearest_variable(std::string_view name);

// The warning that a name, at a place, is not a variable.
[[nodiscard]] std::string no_such_variable(std::string_view name, std::string_view where);
// The same warning for an unknown name that begins with TUTTI_; empty for all others.
[[nodiscard]] std::string unknown_variable(std::string_view name, std::string_view where);

// Whether a variable of Tutti accepts the value. Unknown names accept any.
[[nodiscard]] Status check_variable(std::string_view name, std::string_view value);

struct VariableOrigin {
  enum class Source : std::uint8_t { initial, environment, file };
  Source source = Source::initial;
  std::string where{};  // the place in the environment's words, or the file
  int line = 0;
  std::string alias{};  // the name it was given under, where that is not its own

  // "default", "environment", "config.variables", "/etc/tutti.conf:3".
  [[nodiscard]] std::string place() const;

  // The place, and the alias where there is one: "environment as NCCL_DEBUG".
  [[nodiscard]] std::string to_string() const;
};

// Where tutti.conf may lie; an empty path is not looked at.
struct ConfPaths {
  std::string user;
  std::string system;

  // $XDG_CONFIG_HOME/tutti/tutti.conf (~/.config where that is not an absolute path) and /etc/tutti.conf.
  [[nodiscard]] static ConfPaths standard(const Environment& environment);
};

struct VariablesReading;

class Variables {
 public:
  // All defaults.
  Variables();

  // Reads everything that can be read: wrong variables keep their defaults and are in the reading's problems.
  [[nodiscard]] static VariablesReading read(const Environment& environment, const ConfPaths& paths);

  // The same where anything wrong is an error, one line for each problem.
  [[nodiscard]] static Result<Variables> load(const Environment& environment, const ConfPaths& paths);

  // The value in the type of its row: bool, std::int64_t, Bytes, Nanos, std::string_view (the choice's word, or the
  // text with the row's prefix), const VariableList&, const std::string&. Of the first four an optional where the row
  // admits automatic or has no default.
  template <VariableId id>
  [[nodiscard]] decltype(auto) get() const {
    constexpr VariableType kType = row_of(id).type;
    if constexpr (kType == VariableType::boolean) return number<bool, id>();
    if constexpr (kType == VariableType::integer) return number<std::int64_t, id>();
    if constexpr (kType == VariableType::bytes) return number<Bytes, id>();
    if constexpr (kType == VariableType::duration) return number<Nanos, id>();
    if constexpr (kType == VariableType::choice) return word<id>();
    if constexpr (kType == VariableType::list) return (std::get<VariableList>(values_[index_of(id)]));
    if constexpr (kType == VariableType::text) return (std::get<std::string>(values_[index_of(id)]));
  }

  // A choice as an enumeration whose values stand in the order of the row's choices.
  template <typename Enum, VariableId id>
  [[nodiscard]] Enum get_as() const {
    return static_cast<Enum>(chosen<id>());
  }

  [[nodiscard]] const VariableOrigin& origin(VariableId id) const { return origins_[index_of(id)]; }

  // The present value as text (see to_text), for comparing and storing; "(hidden)" for a secret that is set.
  [[nodiscard]] std::string text(VariableId id) const;

  // Environment::data_folder() of the environment that they were read from.
  [[nodiscard]] const std::string& data_folder() const { return data_folder_; }

  // What is not wrong but deserves a word: unknown names, aliases that differ. For the log.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class VariablesReader;

  template <VariableId id>
  [[nodiscard]] std::size_t chosen() const {
    static_assert(row_of(id).type == VariableType::choice, "only a choice has an index");
    return std::get<VariableChoice>(values_[index_of(id)]).index;
  }

  template <VariableId id>
  [[nodiscard]] std::string_view word() const {
    const std::string* text = std::get_if<std::string>(&values_[index_of(id)]);
    return text != nullptr ? std::string_view(*text) : row_of(id).choices[chosen<id>()];
  }

  template <typename T, VariableId id>
  [[nodiscard]] auto number() const {
    const VariableValue& value = values_[index_of(id)];
    if constexpr (row_of(id).may_be_absent()) {
      const T* present = std::get_if<T>(&value);
      return present ? std::optional<T>(*present) : std::nullopt;
    } else {
      return std::get<T>(value);
    }
  }

  std::array<VariableValue, kNumVariables> values_;
  std::array<VariableOrigin, kNumVariables> origins_;
  std::vector<std::string> warnings_;
  std::string data_folder_;
};

struct VariableProblem {
  std::optional<VariableId> id;  // nothing where a whole file or line is wrong
  std::string text;
};

struct VariablesReading {
  Variables variables;
  std::vector<VariableProblem> problems;
};

}  // namespace tutti
