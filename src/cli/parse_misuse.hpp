// SPDX-License-Identifier: Apache-2.0
// What CLI11 finds wrong with a command line, as a sentence that names the option, its value and what is right. Pure;
// thread-safe.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace tutti::cli {

// `command` is the one whose options were being read; the program itself where none was named.
[[nodiscard]] std::string misuse_in_words(const CLI::App& command, const CLI::ParseError& error);

// For options whose empty value would be taken for none.
CLI::Option* not_empty(CLI::Option* option);

}  // namespace tutti::cli
