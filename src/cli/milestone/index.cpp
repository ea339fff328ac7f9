// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/index.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/system/file.hpp"
#include "base/text.hpp"

namespace tutti::cli {

namespace {

using IndexJson = nlohmann::ordered_json;

constexpr int kIndexVersion = 1;
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{64} << 20U;
constexpr std::array<const char*, 2> kPartLists = {"parts", "undrawn_parts"};

IndexJson files_json(const std::vector<MadeFile>& files, std::string_view part) {
  IndexJson json = IndexJson::array();
  const std::string rows = fmt::format("{}.jsonl", part);
  for (const MadeFile& each : files)
    json.push_back({{"file", each.name}, {"kind", each.kind}, {"from", each.name == rows ? "" : rows}});
  return json;
}

IndexJson json_of(const UndrawnPart& undrawn) {
  return {{"name", undrawn.name},
          {"reason", undrawn.reason.to_string()},
          {"files", files_json(undrawn.files, undrawn.name)}};
}

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
  json["files"] = files_json(drawn.files, drawn.part->name);
  return json;
}

std::optional<IndexJson> read_index(const std::string& path) {
  const Result<std::optional<std::string>> text = read_file_if_there(path, kMostIndexBytes);
  if (!text.ok() || !text->has_value()) return std::nullopt;
  return IndexJson::parse(**text, nullptr, false);
}

std::string text_in(const IndexJson& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

IndexJson list_at(const IndexJson& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_array() ? *found : IndexJson::array();
}

std::vector<MadeFile> files_at(const IndexJson& json) {
  std::vector<MadeFile> files;
  for (const IndexJson& each : list_at(json, "files"))
    if (std::string name = text_in(each, "file"); !name.empty())
      files.push_back({std::move(name), text_in(each, "kind")});
  return files;
}

// An empty object if there is none.
IndexJson part_in(const std::string& path, std::string_view part) {
  if (const std::optional<IndexJson> json = read_index(path))
    for (const char* parts : kPartLists)
      for (const IndexJson& each : list_at(*json, parts))
        if (text_in(each, "name") == part) return each;
  return IndexJson::object();
}

}  // namespace

bool Drawn::is_complete() const {
  return missing.empty() && undrawn.empty() &&
         std::all_of(parts.begin(), parts.end(), [](const DrawnPart& each) { return each.rows.is_complete(); });
}

bool Drawn::is_right() const {
  return undrawn.empty() &&
         std::all_of(parts.begin(), parts.end(), [](const DrawnPart& each) { return each.is_right(); });
}

std::string index_of(const Milestone& milestone, const Drawn& drawn) {
  IndexJson json;
  json["milestone"] = milestone.name;
  json["version"] = kIndexVersion;
  json["title"] = milestone.title;
  json["complete"] = drawn.is_complete();
  json["right"] = drawn.is_right();
  json["missing_parts"] = drawn.missing;
  json["undrawn_parts"] = IndexJson::array();
  for (const UndrawnPart& each : drawn.undrawn) json["undrawn_parts"].push_back(json_of(each));
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
  if (text_in(*json, "milestone") == milestone) return {};
  return wrong_argument(
      fmt::format("{} is not the index of {}; -o takes a folder of its own", in_quotes(path), milestone));
}

std::vector<std::string> files_in_index(const std::string& path) {
  std::vector<std::string> names;
  const std::optional<IndexJson> json = read_index(path);
  if (!json) return names;
  std::vector<MadeFile> files = files_at(*json);
  for (const char* parts : kPartLists)
    for (const IndexJson& each : list_at(*json, parts)) {
      const std::vector<MadeFile> more = files_at(each);
      files.insert(files.end(), more.begin(), more.end());
    }
  for (MadeFile& each : files) names.push_back(std::move(each.name));
  return names;
}

std::vector<MadeFile> files_of_part(const std::string& path, std::string_view part) {
  return files_at(part_in(path, part));
}

bool are_drawn(const std::string& path, std::string_view part, const PartRows& rows) {
  const IndexJson json = part_in(path, part);
  const auto cases = json.find("cases_made");
  if (json.contains("reason")) return true;
  return text_in(json, "begun") == rows.origin().begun && cases != json.end() && *cases == rows.cases().size();
}

}  // namespace tutti::cli
