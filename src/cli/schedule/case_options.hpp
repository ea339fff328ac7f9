// The options that pick cases of an algorithm (--root, --radix, --grid …), for all commands that make schedules.
#pragma once

#include <cstdint>
#include <string_view>

#include "algorithms/cases.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

// What a command does with the cases that the options leave.
enum class CaseUse : std::uint8_t { all, first };

// Fills the filter while options are parsed, and refuses what cannot be read. It must live as long as the application.
void add_case_options(CLI::App& app, CaseFilter& filter, CaseUse use);

// For functions of options: says which option is wrong, what was written, and what would be right.
[[noreturn]] void refuse_option(std::string_view option, std::string_view text, std::string_view wanted);

}  // namespace tutti::cli
