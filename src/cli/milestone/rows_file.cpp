// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/rows_file.hpp"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/system/file.hpp"
#include "base/system/take_fd.hpp"
#include "base/text.hpp"

namespace tutti::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kRowsVersion = 1;
constexpr std::uint64_t kMostRowsBytes = std::uint64_t{256} << 20U;

Json json_of(const Cell& cell) {
  if (const auto* const truth = std::get_if<bool>(&cell)) return *truth;
  if (const auto* const whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* const fraction = std::get_if<double>(&cell))
    return std::isfinite(*fraction) ? Json(*fraction) : Json();
  if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

Cell cell_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return {};
}

// A line; what is no UTF-8 is replaced.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string line_of(const PartOrigin& origin, const RowsOwner& owner, const std::vector<Column>& columns) {
  Json json;
  json["milestone"] = owner.milestone;
  json["part"] = owner.part;
  json["version"] = kRowsVersion;
  json["tutti"] = origin.tutti;
  json["command"] = origin.command;
  json["begun"] = origin.begun;
  json["machine"] = origin.machine;
  json["form"] = origin.is_full ? "full" : "short";
  if (!origin.left_out.empty()) json["left_out"] = origin.left_out;
  json["columns"] = Json::array();
  for (const Column& column : columns) json["columns"].push_back(column.name);
  json["cases"] = origin.cases;
  return line_of(json);
}

std::string line_of(const CaseRows& rows, const std::vector<Column>& columns) {
  Json json;
  json["case"] = rows.name;
  if (!rows.error.empty()) json["error"] = rows.error;
  json["rows"] = Json::array();
  for (const PartRow& row : rows.rows) {
    Json object;
    for (std::size_t each = 0; each < row.size(); ++each) object[columns[each].name] = json_of(row[each]);
    json["rows"].push_back(std::move(object));
  }
  return line_of(json);
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> texts_at(const Json& json, const char* key) {
  std::vector<std::string> texts;
  if (const auto found = json.find(key); found != json.end() && found->is_array())
    for (const Json& each : *found)
      if (each.is_string()) texts.push_back(each.get<std::string>());
  return texts;
}

Result<PartOrigin> origin_of(const Json& json, const RowsOwner& owner, const std::vector<Column>& columns,
                             const std::string& place) {
  if (!json.is_object() || text_at(json, "milestone") != owner.milestone || text_at(json, "part") != owner.part)
    return wrong_argument(fmt::format("{} does not hold rows of {} of {}", place, owner.part, owner.milestone));
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  const auto version = json.find("version");
  const bool is_known = version != json.end() && version->is_number_integer() && version->get<int>() == kRowsVersion;
  if (!is_known || texts_at(json, "columns") != names)
    return wrong_argument(
        fmt::format("{} was written by another version of Tutti ({})", place, in_quotes(text_at(json, "tutti"))));
  PartOrigin origin{.tutti = text_at(json, "tutti"),
                    .command = text_at(json, "command"),
                    .begun = text_at(json, "begun"),
                    .machine = text_at(json, "machine"),
                    .is_full = text_at(json, "form") == "full",
                    .left_out = text_at(json, "left_out"),
                    .cases = texts_at(json, "cases")};
  return origin;
}

Result<CaseRows> case_of(const Json& json, const std::vector<Column>& columns, const std::string& place) {
  const auto rows = json.is_object() ? json.find("rows") : json.end();
  if (!json.is_object() || text_at(json, "case").empty() || rows == json.end() || !rows->is_array())
    return wrong_argument(fmt::format("{}: this is not a case with its rows", place));
  CaseRows one{.name = text_at(json, "case"), .error = text_at(json, "error"), .rows = {}};
  for (const Json& object : *rows) {
    PartRow& row = one.rows.emplace_back();
    for (const Column& column : columns) {
      const auto found = object.is_object() ? object.find(column.name) : object.end();
      if (!object.is_object() || found == object.end())
        return wrong_argument(fmt::format("{}: a row has no {}", place, in_quotes(column.name)));
      row.push_back(cell_of(*found));
    }
  }
  return one;
}

// Anybody may have written the file.
Status check_numbers(const PartRows& rows, const std::vector<std::string_view>& numbers, const std::string& path) {
  for (const std::string_view column : numbers)
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (!rows.number(row, column))
        return wrong_argument(fmt::format("{}: a row has no number as its {}", path, in_quotes(column)));
  return {};
}

Status write_all(const UniqueFd& file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return Status::from_errno(fmt::format("cannot write {}", in_quotes(path)), written < 0 ? errno : ENOSPC);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<UniqueFd> open_to_add(const std::string& path) {
  UniqueFd file = take_fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.valid()) return Status::from_errno(fmt::format("cannot write {}", in_quotes(path)), errno);
  return file;
}

// Without its heading.
std::string csv_lines_of(const CaseRows& rows, const std::vector<Column>& columns) {
  Table table(columns);
  for (const PartRow& row : rows.rows) table.add_row(row);
  const std::string csv = to_csv(table);
  return csv.substr(csv.find('\n') + 1);
}

}  // namespace

std::string rows_path(const std::string& folder, std::string_view part) {
  return fmt::format("{}/{}.jsonl", folder, part);
}
std::string csv_path(const std::string& folder, std::string_view part) {
  return fmt::format("{}/{}.csv", folder, part);
}

Result<std::optional<PartRows>> read_rows(const std::string& folder, const RowsOwner& owner,
                                          const std::vector<Column>& columns,
                                          const std::vector<std::string_view>& numbers) {
  const std::string path = rows_path(folder, owner.part);
  TUTTI_TRY_ASSIGN(const std::optional<std::string> text, read_file_if_there(path, kMostRowsBytes));
  if (!text) return std::optional<PartRows>();
  std::optional<PartOrigin> origin;
  std::vector<CaseRows> cases;
  std::size_t number = 0;
  for (std::string_view left = *text; !left.empty();) {
    const std::size_t end = left.find('\n');
    if (end == left.npos) break;  // what was being written when it ended
    const std::string place = fmt::format("{}:{}", path, ++number);
    const Json json = Json::parse(left.substr(0, end), nullptr, false);
    left.remove_prefix(end + 1);
    if (json.is_discarded()) return wrong_argument(fmt::format("{}: this is not JSON", place));
    if (!origin) {
      TUTTI_TRY_ASSIGN(origin, origin_of(json, owner, columns, path));
      continue;
    }
    TUTTI_TRY_ASSIGN(CaseRows one, case_of(json, columns, place));
    std::erase_if(cases, [&](const CaseRows& each) { return each.name == one.name; });
    cases.push_back(std::move(one));
  }
  if (!origin) return std::optional<PartRows>();
  PartRows rows(std::move(*origin), columns, std::move(cases));
  TUTTI_TRY(check_numbers(rows, numbers, path));
  return std::optional(std::move(rows));
}

RowsWriter::RowsWriter(std::string folder, RowsOwner owner, PartRows kept)
    : folder_(std::move(folder)),
      owner_(std::move(owner)),
      origin_(kept.origin()),
      columns_(kept.table().columns()),
      cases_(kept.cases()) {}

RowsWriter::RowsWriter(RowsWriter&& other) noexcept
    : folder_(std::move(other.folder_)),
      owner_(std::move(other.owner_)),
      origin_(std::move(other.origin_)),
      columns_(std::move(other.columns_)),
      cases_(std::move(other.cases_)),
      rows_(std::move(other.rows_)),
      csv_(std::move(other.csv_)) {}

Status RowsWriter::write_both() const {
  const PartRows all(origin_, columns_, cases_);
  std::string text = line_of(origin_, owner_, columns_);
  for (const CaseRows& each : all.cases()) text += line_of(each, columns_);
  TUTTI_TRY(replace_file(rows_path(folder_, owner_.part), text));
  return replace_file(csv_path(folder_, owner_.part), to_csv(all.table()));
}

Result<RowsWriter> RowsWriter::begin(const std::string& folder, RowsOwner owner, PartRows kept) {
  RowsWriter writer(folder, std::move(owner), std::move(kept));
  TUTTI_TRY(writer.write_both());
  TUTTI_TRY_ASSIGN(writer.rows_, open_to_add(rows_path(folder, writer.owner_.part)));
  TUTTI_TRY_ASSIGN(writer.csv_, open_to_add(csv_path(folder, writer.owner_.part)));
  return writer;
}

Status RowsWriter::add(const CaseRows& rows) {
  const std::scoped_lock lock(mutex_);
  TUTTI_TRY(write_all(rows_, line_of(rows, columns_), rows_path(folder_, owner_.part)));
  TUTTI_TRY(write_all(csv_, csv_lines_of(rows, columns_), csv_path(folder_, owner_.part)));
  cases_.push_back(rows);
  return {};
}

Status RowsWriter::finish() {
  const std::scoped_lock lock(mutex_);
  return write_both();
}

}  // namespace tutti::cli
