// SPDX-License-Identifier: Apache-2.0
// The options that pick cases of an algorithm (--root, --radix, --grid …), for all commands that make schedules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "algorithms/cases.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

// What a command does with the cases that the options leave: all, the first, or the one for a fabric's grid.
enum class CaseUse : std::uint8_t { all, first, on_fabric };

// Fills the filter while options are parsed, and refuses what cannot be read. It must live as long as the application.
void add_case_options(CLI::App& app, CaseFilter& filter, CaseUse use);

// For functions of options: says which option is wrong, what was written, and what would be right.
[[noreturn]] void refuse_option(std::string_view option, std::string_view text, std::string_view wanted);
// The number that an option has been given; refuses what is none from `least` to `most`.
[[nodiscard]] std::uint64_t number_of_option(std::string_view option, const std::string& text, std::uint64_t least,
                                             std::uint64_t most);

// A function of an option that puts its number into `value`, which must live as long as the application.
template <typename T, typename Value>
auto number_into(const char* option, std::type_identity_t<T> least, T most, Value& value) {
  return [option, least, most, &value](const std::string& text) {
    value = static_cast<T>(number_of_option(option, text, least, most));
  };
}

}  // namespace tutti::cli
