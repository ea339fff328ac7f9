// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/index.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/system/file.hpp"
#include "base/text.hpp"

namespace tutti::cli {

namespace {

using IndexJson = nlohmann::ordered_json;

constexpr int kIndexVersion = 1;
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{64} << 20U;

IndexJson json_of(const DrawnPart& drawn) {
  const PartOrigin& origin = drawn.rows.origin();
  IndexJson json;
  json["name"] = drawn.part->name;
  json["title"] = drawn.part->title;
  json["complete"] = drawn.rows.is_complete();
  json["right"] = drawn.is_right();
  if (!origin.left_out.empty()) json["left_out"] = origin.left_out;
  json["form"] = origin.is_full ? "full" : "short";
  json["command"] = origin.command;
  json["begun"] = origin.begun;
  json["machine"] = origin.machine;
  json["tutti"] = origin.tutti;
  json["cases"] = origin.cases.size();
  json["cases_made"] = drawn.rows.cases().size();
  json["rows"] = drawn.rows.size();
  json["errors"] = IndexJson::array();
  for (const CaseRows& each : drawn.rows.cases())
    if (!each.error.empty()) json["errors"].push_back({{"case", each.name}, {"error", each.error}});
  json["answer"] = drawn.shown.answer;
  json["files"] = IndexJson::array();
  const std::string rows = fmt::format("{}.jsonl", drawn.part->name);
  for (const MadeFile& each : drawn.files)
    json["files"].push_back({{"file", each.name}, {"kind", each.kind}, {"from", each.name == rows ? "" : rows}});
  return json;
}

std::optional<IndexJson> read_index(const std::string& path) {
  const Result<std::optional<std::string>> text = read_file_if_there(path, kMostIndexBytes);
  if (!text.ok() || !text->has_value()) return std::nullopt;
  return IndexJson::parse(**text, nullptr, false);
}

}  // namespace

bool Drawn::is_complete() const {
  return missing.empty() &&
         std::all_of(parts.begin(), parts.end(), [](const DrawnPart& each) { return each.rows.is_complete(); });
}

bool Drawn::is_right() const {
  return std::all_of(parts.begin(), parts.end(), [](const DrawnPart& each) { return each.is_right(); });
}

std::string index_of(const Milestone& milestone, const Drawn& drawn) {
  IndexJson json;
  json["milestone"] = milestone.name;
  json["version"] = kIndexVersion;
  json["title"] = milestone.title;
  json["complete"] = drawn.is_complete();
  json["right"] = drawn.is_right();
  json["missing_parts"] = drawn.missing;
  json["notes"] = drawn.notes;
  json["parts"] = IndexJson::array();
  for (const DrawnPart& each : drawn.parts) json["parts"].push_back(json_of(each));
  json["files"] = IndexJson::array();
  for (const MadeFile& each : drawn.whole) json["files"].push_back({{"file", each.name}, {"kind", each.kind}});
  return json.dump(2, ' ', false, IndexJson::error_handler_t::replace) + "\n";
}

Status check_index(const std::string& path, std::string_view milestone) {
  const std::optional<IndexJson> json = read_index(path);
  if (!json) return {};
  const auto found = json->is_object() ? json->find("milestone") : json->end();
  if (json->is_object() && found != json->end() && found->is_string() && found->get<std::string>() == milestone)
    return {};
  return wrong_argument(
      fmt::format("{} is not the index of {}; -o takes a folder of its own", in_quotes(path), milestone));
}

std::vector<std::string> files_in_index(const std::string& path) {
  std::vector<std::string> files;
  const std::optional<IndexJson> json = read_index(path);
  const auto take = [&](const IndexJson& from) {
    const auto found = from.is_object() ? from.find("files") : from.end();
    if (!from.is_object() || found == from.end() || !found->is_array()) return;
    for (const IndexJson& each : *found)
      if (each.is_object() && each.contains("file") && each["file"].is_string())
        files.push_back(each["file"].get<std::string>());
  };
  if (!json || !json->is_object()) return files;
  take(*json);
  if (const auto parts = json->find("parts"); parts != json->end() && parts->is_array())
    for (const IndexJson& each : *parts) take(each);
  return files;
}

}  // namespace tutti::cli
