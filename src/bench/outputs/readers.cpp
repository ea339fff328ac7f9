// SPDX-License-Identifier: Apache-2.0
#include "bench/outputs/readers.hpp"

#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

struct KnownFormat {
  std::string_view name;
  Output (*read)(std::string_view text);
};
constexpr std::array<KnownFormat, 3> kFormats = {
    {{"nccl-tests", read_nccl_tests}, {"osu", read_osu}, {"imb", read_imb}}};

// A last line without an end may be cut off in the midst of a number: its rows say so.
Output read_to_the_end(const Reader& read, std::string_view text) {
  Output output = read(text);
  if (text.empty() || text.ends_with('\n')) return output;
  const std::size_t end = text.rfind('\n');
  const Output before = read(text.substr(0, end == std::string_view::npos ? 0 : end + 1));
  for (std::size_t row = before.readings.size(); row < output.readings.size(); ++row)
    output.readings[row].remark +=
        fmt::format("{}its line has no end and may be cut off", output.readings[row].remark.empty() ? "" : "; ");
  return output;
}

Reader whole_lines(Reader read) {
  return [read = std::move(read)](std::string_view text) { return read_to_the_end(read, text); };
}

Output read_any(std::string_view text) {
  for (const KnownFormat& format : kFormats)
    if (Output output = format.read(text); output.is_recognised()) return output;
  return {};
}

constexpr std::string_view kPattern = "regex:";

}  // namespace

Result<ReadAs> parse_read_as(std::string_view text, std::string_view time) {
  const std::string_view name = trim(text);
  if (!time.empty() && !same_name(name, "json"))
    return Status(Code::invalid_argument, fmt::format("--time {} is for --read json", in_quotes(time)));
  if (same_name(name, "auto")) return ReadAs{"auto", whole_lines(read_any), false};
  if (same_name(name, "wall")) return ReadAs{"wall", nullptr, false};
  for (const KnownFormat& format : kFormats)
    if (same_name(name, format.name)) return ReadAs{std::string(format.name), whole_lines(format.read), true};
  if (same_name(name, "json")) {
    Result<Reader> reader = json_reader(time);
    if (!reader.ok()) return reader.status();
    return ReadAs{"json", std::move(*reader), true};
  }
  if (name.starts_with(kPattern)) {
    Result<Reader> reader = pattern_reader(name.substr(kPattern.size()));
    if (!reader.ok()) return reader.status();
    return ReadAs{std::string(name), whole_lines(std::move(*reader)), true};
  }
  return Status(Code::invalid_argument,
                fmt::format("--read is {}; it takes auto, nccl-tests, osu, imb, json, wall or regex:PATTERN, such as "
                            "regex:'size (?<bytes>[0-9]+) took (?<time_us>[0-9.]+)'",
                            in_quotes(text)));
}

}  // namespace tutti::harness
