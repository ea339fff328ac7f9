// SPDX-License-Identifier: Apache-2.0
#include "nccl_tuner/lines.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tutti::nccl_tuner {

namespace {

// What the example plugin reads of a line, without its end.
constexpr std::size_t kMostOfLine = 254;
constexpr std::size_t kLeastFields = 8;
constexpr std::size_t kMostFields = 10;
constexpr std::size_t kMostShown = 60;

// By NCCL's numbers.
constexpr auto kFunctions =
    std::to_array<std::string_view>({"broadcast", "reduce", "allgather", "reducescatter", "allreduce"});
constexpr auto kAlgorithms =
    std::to_array<std::string_view>({"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"});
constexpr auto kProtocols = std::to_array<std::string_view>({"ll", "ll128", "simple"});

template <typename T, std::size_t N>
std::optional<T> find_word(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<T>(found - words.begin());
}

bool is_blank(char each) { return each == ' ' || each == '\t' || each == '\r'; }

std::vector<std::string_view> fields_of(std::string_view text) {
  std::vector<std::string_view> fields;
  for (bool is_last = false; !is_last;) {
    const std::size_t end = text.find(',');
    is_last = end == std::string_view::npos;
    std::string_view field = text.substr(0, end);
    while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
    while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
    fields.push_back(field);
    if (!is_last) text.remove_prefix(end + 1);
  }
  return fields;
}

template <typename T>
bool read_number(std::string_view field, T& number) {
  const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  return error == std::errc() && stop == field.data() + field.size();
}

// Fit to be shown in a log.
std::string quoted(std::string_view word) {
  std::string shown = "'";
  for (const char each : word.substr(0, kMostShown)) shown += each < ' ' || each > '~' ? '?' : each;
  return shown + (word.size() > kMostShown ? "...'" : "'");
}

// Empty: the line is read.
std::string read_line(std::string_view text, Line& line) {
  if (text.size() > kMostOfLine)
    return "the line has " + std::to_string(text.size()) + " characters; " + std::to_string(kMostOfLine) +
           " are the most";
  const std::vector<std::string_view> fields = fields_of(text);
  if (fields.size() < kLeastFields || fields.size() > kMostFields)
    return "the line has " + std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") +
           "; it takes " + std::to_string(kLeastFields) + " to " + std::to_string(kMostFields);
  const auto function = find_word<Function>(kFunctions, fields[0]);
  if (!function) return quoted(fields[0]) + " is no collective of NCCL's";
  const auto algorithm = find_algorithm(fields[3]);
  if (!algorithm) return quoted(fields[3]) + " is no algorithm";
  const auto protocol = find_protocol(fields[4]);
  if (!protocol) return quoted(fields[4]) + " is no protocol";
  line.function = *function;
  line.algorithm = *algorithm;
  line.protocol = *protocol;
  if (!read_number(fields[1], line.least_bytes) || !read_number(fields[2], line.most_bytes) ||
      line.least_bytes > line.most_bytes)
    return "fields 2 and 3 are no range of bytes";
  const std::array<std::int32_t*, 5> numbers{&line.channels, &line.nodes, &line.ranks, &line.operations,
                                             &line.registered};
  for (std::size_t field = 5; field < fields.size(); ++field)
    if (!read_number(fields[field], *numbers[field - 5]) || *numbers[field - 5] < -1)
      return "field " + std::to_string(field + 1) + " is no number from -1 on";
  line.channels = std::max(line.channels, 0);
  return "";
}

bool is_number(std::int32_t wanted, std::uint64_t number) {
  return wanted == -1 || static_cast<std::uint64_t>(wanted) == number;
}

}  // namespace

std::string_view name_of(Function function) { return kFunctions.at(static_cast<std::size_t>(function)); }
std::string_view name_of(Algorithm algorithm) { return kAlgorithms.at(static_cast<std::size_t>(algorithm)); }
std::string_view name_of(Protocol protocol) { return kProtocols.at(static_cast<std::size_t>(protocol)); }
std::optional<Algorithm> find_algorithm(std::string_view name) { return find_word<Algorithm>(kAlgorithms, name); }
std::optional<Protocol> find_protocol(std::string_view name) { return find_word<Protocol>(kProtocols, name); }

bool Line::is_for(std::uint64_t num_ranks, std::uint64_t num_nodes) const {
  return is_number(ranks, num_ranks) && is_number(nodes, num_nodes);
}

bool Line::matches(const Call& call) const {
  return function == call.function && call.bytes >= least_bytes && call.bytes <= most_bytes &&
         is_for(call.ranks, call.nodes) && (operations == -1 || operations == call.operations) &&
         (registered == -1 || (call.is_registered && registered == (*call.is_registered ? 1 : 0)));
}

ReadLines read_lines(std::string_view text) {
  ReadLines read;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view row = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
    if (row.empty() || row.front() == '#') continue;
    Line line{.line = number};
    read.error = read_line(row, line);
    if (!read.error.empty()) {
      read.error_line = number;
      read.lines.clear();
      return read;
    }
    read.lines.push_back(line);
  }
  return read;
}

std::string write_line(const Line& line) {
  std::string text{name_of(line.function)};
  for (const std::string& field :
       {std::to_string(line.least_bytes), std::to_string(line.most_bytes), std::string(name_of(line.algorithm)),
        std::string(name_of(line.protocol)), std::to_string(line.channels), std::to_string(line.nodes),
        std::to_string(line.ranks)})
    text.append(",").append(field);
  if (line.operations != -1 || line.registered != -1) text.append(",").append(std::to_string(line.operations));
  if (line.registered != -1) text.append(",").append(std::to_string(line.registered));
  return text;
}

}  // namespace tutti::nccl_tuner
