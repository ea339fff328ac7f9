// SPDX-License-Identifier: Apache-2.0
// Readers of what programs print: each finds the tables of one format in a text, whatever stands around them, and never
// fails on any text. docs/formats/outputs.md says what is read and how. Pure; thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "bench/outputs/reading.hpp"

namespace tutti::harness {

[[nodiscard]] Output read_nccl_tests(std::string_view text);
[[nodiscard]] Output read_osu(std::string_view text);
[[nodiscard]] Output read_imb(std::string_view text);

using Reader = std::function<Output(std::string_view text)>;

// A regular expression (ECMAScript's) whose named groups say what they are; each line that it matches is a row. An
// error where it is none, or where none of its groups is a time.
[[nodiscard]] Result<Reader> pattern_reader(std::string_view pattern);
// Objects: one, an array of them, or one a line. `time` is the key of the time and, where its name does not end with
// one, its unit: "seconds:s"; empty for time_ns, time_us, time_ms or time_s.
[[nodiscard]] Result<Reader> json_reader(std::string_view time);

// How outputs are read: "auto" (the first format that is recognised), "nccl-tests", "osu", "imb", "json",
// "regex:PATTERN", or "wall", which reads nothing: the time that the program takes is all that is known of it.
struct ReadAs {
  std::string name;
  Reader read;  // null for wall
  // What is not recognised is an error; else the wall time is taken.
  bool is_forced = false;
};
// `time` is json's.
[[nodiscard]] Result<ReadAs> parse_read_as(std::string_view text, std::string_view time);

}  // namespace tutti::harness
