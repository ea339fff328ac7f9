// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "base/toml/quoted.hpp"
#include "base/units.hpp"
#include "table/table_file.hpp"

namespace tutti {

namespace {

using document::quoted;

bool is_bare_key(std::string_view key) {
  for (const char c : key)
    if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-') return false;
  return !key.empty();
}

std::string key_text(std::string_view key) { return is_bare_key(key) ? std::string(key) : quoted(key); }

// A line, where there is something to say.
void add_line(std::string& text, std::string_view key, const std::string& value) {
  if (!value.empty()) text += fmt::format("{} = {}\n", key, quoted(value));
}

// Of a number that a table overrules.
std::string value_text(const document::TomlValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value.value)) return quoted(*text);
  if (const auto* const whole = std::get_if<std::int64_t>(&value.value)) return fmt::format("{}", *whole);
  if (const auto* const number = std::get_if<double>(&value.value)) return fmt::format("{}", *number);
  if (const auto* const truth = std::get_if<bool>(&value.value)) return *truth ? "true" : "false";
  return quoted("");
}

// More digits than anybody can measure would only make two tables differ.
double rounded(double us) {
  if (us <= 0) return 0;
  constexpr int kDigits = 5;
  const double scale = std::pow(10.0, kDigits - 1 - static_cast<int>(std::floor(std::log10(us))));
  return std::round(us * scale) / scale;
}

std::string line_of(const TableEvidence& evidence) {
  std::string line =
      fmt::format("{{ bytes = {}, us = {}", quoted(to_text(Bytes(evidence.bytes))), rounded(evidence.us));
  if (evidence.high_us > 0)
    line += fmt::format(", low_us = {}, high_us = {}", rounded(evidence.low_us), rounded(evidence.high_us));
  if (evidence.samples > 0) line += fmt::format(", samples = {}", evidence.samples);
  if (!evidence.runner_up.empty())
    line += fmt::format(", runner_up = {}, margin_percent = {}", quoted(evidence.runner_up), evidence.margin_percent);
  return line + " }";
}

void add_range(std::string& text, const TableRange& range) {
  text += "\n  [[section.range]]\n";
  if (range.most_bytes != kNoEnd) text += fmt::format("  most_bytes = {}\n", quoted(to_text(Bytes(range.most_bytes))));
  if (!range.way.algorithm.empty()) text += fmt::format("  algorithm = {}\n", quoted(range.way.algorithm));
  const CallTuning& tuning = range.way.tuning;
  if (tuning.round) text += fmt::format("  round = {}\n", quoted(to_text(Bytes(*tuning.round))));
  if (tuning.copies != CallTuning::Copies::by_profile)
    text += fmt::format("  copies = \"{}\"\n", name_of(tuning.copies));
  if (tuning.stores != CallTuning::Stores::by_profile)
    text += fmt::format("  stores = \"{}\"\n", name_of(tuning.stores));
  if (!range.way.settings.empty()) {
    text += "  settings = {";
    const char* separator = " ";
    for (const auto& [name, value] : range.way.settings) {
      text += fmt::format("{}{} = {}", separator, key_text(name), quoted(value));
      separator = ", ";
    }
    text += " }\n";
  }
  if (range.evidence.empty()) return;
  text += "  evidence = [\n";
  for (const TableEvidence& evidence : range.evidence) text += fmt::format("    {},\n", line_of(evidence));
  text += "  ]\n";
}

void add_profile(std::string& text, const DecisionTable& table) {
  if (!table.profile.empty()) text += fmt::format("\n[profile]\nbased_on = {}\n", quoted(table.profile));
  for (const document::TomlEntry& section : table.numbers.entries) {
    text += fmt::format("\n[profile.{}]\n", key_text(section.key));
    for (const document::TomlEntry& number : std::get<document::TomlTable>(section.value.value).entries)
      text += fmt::format("{} = {}\n", key_text(number.key), value_text(number.value));
  }
}

}  // namespace

std::string write_table(const DecisionTable& table) {
  std::string text = fmt::format("# A decision table: docs/formats/table.md. {}=FILE makes the runtime obey it.\n",
                                 table.on_devices ? "TUTTI_DEVICE_TABLE" : "TUTTI_TABLE");
  text += fmt::format("version = {}\n", kTableVersion);
  add_line(text, "name", table.name);
  add_line(text, "about", table.about);
  add_line(text, "made", table.made);
  add_line(text, "measured", table.version);
  add_line(text, "run", table.run);
  if (table.peer != kOwnPeer) add_line(text, "peer", table.peer);
  if (table.on_devices) add_line(text, "on", "devices");
  text += "\n[machine]\n";
  add_line(text, "fingerprint", table.fingerprint);
  add_line(text, "is", table.machine);
  if (table.cores != 0) text += fmt::format("cores = {}\n", table.cores);
  add_profile(text, table);
  for (const TableSection& section : table.sections) {
    text += fmt::format("\n[[section]]\ncollective = \"{}\"\nranks = {}\nmemory = \"{}\"\n",
                        name_of(section.collective), section.ranks, name_of(section.memory));
    if (section.types != TypeClass::any) text += fmt::format("types = \"{}\"\n", name_of(section.types));
    if (section.hosts != 1) text += fmt::format("hosts = {}\n", section.hosts);
    if (section.order) text += fmt::format("order = \"{}\"\n", name_of(*section.order));
    for (const TableRange& range : section.ranges) add_range(text, range);
  }
  return text;
}

}  // namespace tutti
