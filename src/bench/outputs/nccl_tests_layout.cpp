// SPDX-License-Identifier: Apache-2.0
#include "bench/outputs/nccl_tests_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "data/type.hpp"

namespace tutti::harness {

namespace {

// What nccl-tests calls it.
std::string_view name_in_nccl_tests(Type type) {
  switch (type) {
    case Type::i8: return "int8";
    case Type::u8: return "uint8";
    case Type::i32: return "int32";
    case Type::u32: return "uint32";
    case Type::i64: return "int64";
    case Type::u64: return "uint64";
    case Type::f16: return "half";
    case Type::f32: return "float";
    case Type::f64: return "double";
    case Type::bf16: return "bfloat16";
    default: return name_of(type);  // as it has float8's; 16-bit integers it has not
  }
}

std::string_view name_in_nccl_tests(Op op) {
  switch (op) {
    case Op::product: return "prod";
    case Op::maximum: return "max";
    case Op::minimum: return "min";
    case Op::average: return "avg";
    case Op::premultiplied_sum: return "mulsum";
    default: return name_of(op);
  }
}

// A line: the same message out of place and in place.
struct Line {
  std::int64_t bytes = 0;
  std::int64_t parts = 1;  // into which it is divided among ranks; the layout counts the elements of one
  std::string type = "none";
  std::string op = "none";
  std::int64_t root = -1;
  std::array<const Row*, 2> in_place{};

  [[nodiscard]] bool is_for(const Line& other) const {
    return bytes == other.bytes && parts == other.parts && type == other.type && op == other.op && root == other.root;
  }
};

struct Table {
  std::string bench;
  std::string title;
  std::vector<Line> lines;
};

// A number as the columns have it: fewer digits behind the point the more there are in front of it.
std::string number_of(double value, int width) {
  const int digits = value < 1 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
  if (digits + 3 <= width) return fmt::format("{:{}.2f}", value, width);
  if (digits + 2 <= width) return fmt::format("{:{}.1f}", value, width);
  return digits <= width ? fmt::format("{:{}.0f}", value, width) : fmt::format("{:{}.1e}", value, width);
}

// The axes that have columns; all others are in the title.
bool has_column(std::string_view axis) {
  return axis == "bytes" || axis == "type" || axis == "op" || axis == "root" || axis == "in_place";
}

std::string title_of(const Row& row) {
  std::string title = fmt::format("bench {}, peer {}", row.bench, row.peer);
  if (row.num_ranks > 0) title += ", " + counted(row.num_ranks, "rank");
  for (const Setting& setting : row.settings) title += fmt::format(", {}={}", setting.name, shown(setting.value));
  for (const auto& [axis, value] : row.point.values)
    if (!has_column(axis)) title += fmt::format(", {}={}", axis, value.text());
  return printable(title);
}

// Why the layout has no place for it; empty where it has one.
std::string_view objection(const Row& row) {
  if (row.outcome == Outcome::skipped) return "were skipped";
  if (row.outcome == Outcome::error || row.samples.empty()) return "could not be measured";
  const Value* bytes = row.point.find("bytes");
  if (bytes == nullptr || !bytes->is_integer()) return "have no size in bytes";
  return "";
}

// The message's, of all ranks where bandwidths count those.
std::int64_t message_size_of(const Row& row) {
  constexpr double kMost = 9e18;
  if (row.message && row.message->bytes >= 0 && row.message->bytes < kMost)
    return static_cast<std::int64_t>(row.message->bytes);
  return row.point.find("bytes")->integer();
}

bool is_divided(Traffic traffic) {
  return traffic == Traffic::all_gather || traffic == Traffic::reduce_scatter || traffic == Traffic::all_to_all ||
         traffic == Traffic::gather || traffic == Traffic::scatter;
}

Line line_of(const Row& row) {
  Line line;
  line.bytes = message_size_of(row);
  if (row.message && is_divided(row.message->traffic) && row.num_ranks > 0) line.parts = row.num_ranks;
  const auto word = [&](const char* axis, std::string& text) {
    if (const Value* value = row.point.find(axis); value != nullptr)
      text = value->is_word() ? value->word() : value->text();
  };
  word("type", line.type);
  word("op", line.op);
  if (const Value* root = row.point.find("root"); root != nullptr && root->is_integer()) line.root = root->integer();
  return line;
}

struct Told {
  double bandwidth_sum = 0;
  int bandwidths = 0;
  int wrong = 0;
};

std::string body_of(const Row* row, Told& told) {
  if (row == nullptr) return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "N/A", "N/A", "N/A", "N/A");
  const double nanos = summarize(*row).median;
  // Bytes a nanosecond are gigabytes a second.
  const double algorithm = static_cast<double>(message_size_of(*row)) / nanos;
  const std::optional<double> factor = row->message ? bus_factor(row->message->traffic, row->num_ranks) : std::nullopt;
  const std::string bus = factor ? number_of(algorithm * *factor, 6) : "N/A";
  if (factor) {
    told.bandwidth_sum += algorithm * *factor;
    ++told.bandwidths;
  }
  if (row->outcome == Outcome::wrong) ++told.wrong;
  // How many values are wrong is not kept.
  const std::string_view wrong = row->outcome == Outcome::wrong ? "1" : row->is_checked ? "0" : "N/A";
  return fmt::format("  {}  {}  {:>6}  {:>6}", number_of(nanos / 1000, 7), number_of(algorithm, 6), bus, wrong);
}

std::string text_of(const Line& line, Told& told) {
  const std::optional<Type> type = type_from_name(line.type);
  const std::optional<Op> op = op_from_name(line.op);
  const std::int64_t count = line.bytes / (type ? static_cast<std::int64_t>(size_of(*type)) : 1) / line.parts;
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", line.bytes, count,
                     type ? name_in_nccl_tests(*type) : line.type, op ? name_in_nccl_tests(*op) : line.op, line.root,
                     body_of(line.in_place[0], told), body_of(line.in_place[1], told));
}

std::string text_of(const Table& table) {
  std::string text = fmt::format("# {}\n#\n", table.title);
  text += fmt::format("#{:54}{:^33}{:^33}\n", "", "out-of-place", "in-place");
  text += fmt::format("#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}", "size", "count", "type", "redop", "root");
  for (int body = 0; body < 2; ++body)
    text += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "time", "algbw", "busbw", "#wrong");
  text += fmt::format("\n#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}", "(B)", "(elements)", "", "", "");
  for (int body = 0; body < 2; ++body)
    text += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  text += "\n";
  Told told;
  for (const Line& line : table.lines) text += text_of(line, told);
  text += fmt::format("# Out of bounds values : {} {}\n", told.wrong, told.wrong == 0 ? "OK" : "FAILED");
  if (told.bandwidths > 0)
    text += fmt::format("# Avg bus bandwidth    : {:.6g}\n", told.bandwidth_sum / told.bandwidths);
  return text + fmt::format("#\n# Collective test concluded: {}\n", table.bench);
}

}  // namespace

NcclTestsLayout in_nccl_tests_layout(const std::vector<Row>& rows) {
  std::vector<Table> tables;
  std::map<std::string_view, std::size_t> left_out;
  for (const Row& row : rows) {
    if (const std::string_view why = objection(row); !why.empty()) {
      ++left_out[why];
      continue;
    }
    const std::string title = title_of(row);
    auto table = std::find_if(tables.begin(), tables.end(), [&](const Table& each) { return each.title == title; });
    if (table == tables.end()) table = tables.insert(tables.end(), {printable(row.bench), title, {}});
    const Line line = line_of(row);
    const Value* in_place = row.point.find("in_place");
    const std::size_t place = in_place != nullptr && *in_place == Value(1) ? 1 : 0;
    // Launches that were kept apart are lines of their own.
    const auto found = std::find_if(table->lines.begin(), table->lines.end(), [&](const Line& each) {
      return each.is_for(line) && each.in_place[place] == nullptr;
    });
    if (found == table->lines.end()) {
      table->lines.push_back(line);
      table->lines.back().in_place[place] = &row;
    } else {
      found->in_place[place] = &row;
    }
  }
  NcclTestsLayout layout;
  for (const Table& table : tables) layout.text += text_of(table);
  for (const auto& [why, count] : left_out)
    layout.left_out.push_back(
        fmt::format("{} row{} not in the layout of nccl-tests: they {}", count, count == 1 ? " is" : "s are", why));
  return layout;
}

}  // namespace tutti::harness
