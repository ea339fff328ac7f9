// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/alignment.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

// A peer that is there more than once has a number behind its name: "openmpi#2".
bool is_of(const Row& row, std::string_view peer) {
  return same_name(std::string_view(row.peer).substr(0, row.peer.find('#')), peer);
}

// Takes the knob out of the row; none where it has none of that name.
std::optional<Value> take(Row& row, const std::string& knob) {
  const auto setting =
      std::find_if(row.settings.begin(), row.settings.end(), [&](const Setting& each) { return each.name == knob; });
  if (setting != row.settings.end()) {
    Value value = setting->value ? parse_value(*setting->value) : Value("unset");
    row.settings.erase(setting);
    return value;
  }
  auto& values = row.point.values;
  const auto axis =
      std::find_if(values.begin(), values.end(), [&](const auto& each) { return same_name(each.first, knob); });
  if (axis == values.end()) return std::nullopt;
  Value value = axis->second;
  values.erase(axis);
  return value;
}

}  // namespace

Result<Alignment> parse_alignment(std::string_view text) {
  const auto malformed = [&] {
    return Status(Code::invalid_argument, fmt::format("--align is {}; it takes COLUMN=PEER:NAME,PEER:NAME, such as "
                                                      "cus=nccl:NCCL_MAX_CTAS,mine:comm_sms",
                                                      in_quotes(text)));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return malformed();
  Alignment alignment{.column = std::string(trim(text.substr(0, equals))), .knobs = {}};
  if (alignment.column.empty()) return malformed();
  for (const std::string_view part : split(text.substr(equals + 1), ',')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) return malformed();
    alignment.knobs.emplace_back(trim(part.substr(0, colon)), trim(part.substr(colon + 1)));
    if (alignment.knobs.back().first.empty() || alignment.knobs.back().second.empty()) return malformed();
  }
  return alignment;
}

bool has_axis(const std::vector<Alignment>& alignments, const std::vector<Row>& rows) {
  return std::any_of(alignments.begin(), alignments.end(), [&](const Alignment& alignment) {
    return std::any_of(alignment.knobs.begin(), alignment.knobs.end(), [&](const auto& knob) {
      return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return std::any_of(row.point.values.begin(), row.point.values.end(),
                           [&](const auto& value) { return same_name(value.first, knob.second); });
      });
    });
  });
}

Result<std::vector<Row>> aligned(std::vector<Row> rows, const std::vector<Alignment>& alignments) {
  for (const Alignment& alignment : alignments)
    for (const auto& [peer, knob] : alignment.knobs) {
      bool is_there = false;
      bool has_rows = false;
      for (Row& row : rows) {
        if (!is_of(row, peer)) continue;
        has_rows = true;
        std::optional<Value> value = take(row, knob);
        if (!value) continue;
        if (row.point.find(alignment.column) != nullptr)
          return Status(Code::invalid_argument,
                        fmt::format("--align {}: rows of {} have that column already", alignment.column, peer));
        row.point.values.emplace_back(alignment.column, std::move(*value));
        is_there = true;
      }
      if (!is_there)
        return Status(Code::invalid_argument,
                      has_rows
                          ? fmt::format("--align {}: rows of {} have no axis or variable {}", alignment.column, peer,
                                        in_quotes(knob))
                          : fmt::format("--align {}: there are no rows of peer {}", alignment.column, in_quotes(peer)));
    }
  return rows;
}

}  // namespace tutti::harness
