// SPDX-License-Identifier: Apache-2.0
// tutti.conf: any text is read without harm, and what was read is read again from what a user would write of it.
#include <algorithm>

#include <fmt/format.h>

#include "base/variables/conf.hpp"
#include "fuzz.hpp"

namespace tutti {
namespace {

using fuzz::require;

std::string written(const ConfContents& contents) {
  std::string text;
  for (const ConfLine& line : contents.lines) {
    const bool quotable = line.value.find('"') == std::string::npos;
    text += fmt::format("{} = {}{}{}\n", line.name, quotable ? "\"" : "", line.value, quotable ? "\"" : "");
  }
  return text;
}

void check(std::string_view text) {
  const ConfContents contents = parse_conf(text, "tutti.conf");
  const auto num_lines = 1 + std::count(text.begin(), text.end(), '\n');
  int number = 0;
  for (const ConfLine& line : contents.lines) {
    require(!line.name.empty(), "a line has a name");
    require(line.number > number && line.number <= num_lines, "lines stand in the order of the file");
    number = line.number;
  }
  for (const std::string& error : contents.errors) require(error.starts_with("tutti.conf:"), "an error has its place");

  const ConfContents again = parse_conf(written(contents), "again");
  require(again.errors.empty(), "what was read can be written");
  require(std::equal(contents.lines.begin(), contents.lines.end(), again.lines.begin(), again.lines.end(),
                     [](const ConfLine& a, const ConfLine& b) { return a.name == b.name && a.value == b.value; }),
          "what was written is read back");
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::check(tutti::fuzz::as_text(data, size));
  return 0;
}
