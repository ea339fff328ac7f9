// SPDX-License-Identifier: Apache-2.0
// Axes of the environment: variables that are set, one combination after another, in worker processes before anything
// of a backend begins. A value may be "unset" (the variable is not there), which is another thing than empty.
//
// Values and pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti::harness {

// What is done with one variable; null unsets it.
struct Setting {
  std::string name;
  std::optional<std::string> value;

  friend bool operator==(const Setting&, const Setting&) = default;
};

// Several variables that change together: of one there is a point for each of its values, of several ("zip") the
// points pair them up.
struct EnvironmentAxis {
  std::string peer;                                             // whom it concerns; empty: everybody
  std::vector<std::string> names;                               // at least one
  std::vector<std::vector<std::optional<std::string>>> points;  // each has a value for each name

  friend bool operator==(const EnvironmentAxis&, const EnvironmentAxis&) = default;
};

// "NAME=a,b,unset", "PEER:NAME=a,b": bare unset unsets, a quoted "unset" is the word; nothing between commas is the
// empty value, so "NAME=" has one. A list that begins with '[' is a TOML array of strings, numbers and booleans, of
// which numbers come out as Value shows them; the word unset without quotes unsets there too, though it is not TOML.
[[nodiscard]] Result<EnvironmentAxis> parse_env(std::string_view text);

// "A,B=[[1,2],[3,unset]]", "PEER:A,B=[...]": an array of arrays, each as long as there are names.
[[nodiscard]] Result<EnvironmentAxis> parse_env_zip(std::string_view text);

// What tables show of a value: the value itself, or unset. What could be misread stands in quotes: the empty value, the
// word "unset", and what begins with a quote itself.
[[nodiscard]] std::string shown(const std::optional<std::string>& value);

// Not TUTTI_...: every rank of Tutti would warn of a variable that it does not know.
inline constexpr std::string_view kPaddingVariable = "BENCH_PADDING";

// The environment block of a child: what is inherited, changed by the settings (of one name the last counts), and
// padding so that the block is `size` bytes long with every value of a sweep, or its least size where that is more: its
// size moves the stack, and that moves times. So does the number of its entries, so each variable that is unset leaves
// an empty BENCH_PADDING_0, BENCH_PADDING_1, ... in its place. In alphabetical order of names. Padding that is
// inherited, what is no NAME=VALUE, and what a launcher told the runner of its own place (launcher_variables.hpp) is
// not passed on.
[[nodiscard]] std::vector<std::string> environment_block(const std::vector<std::string>& inherited,
                                                         const std::vector<Setting>& settings, std::size_t size);
// The least size of the block: NAME=VALUE and its zero, of all, with padding of no length. The greatest of a sweep is
// the size that all its blocks can have.
[[nodiscard]] std::size_t size_of_block(const std::vector<std::string>& inherited,
                                        const std::vector<Setting>& settings);

}  // namespace tutti::harness
