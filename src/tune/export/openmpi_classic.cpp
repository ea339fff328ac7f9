// SPDX-License-Identifier: Apache-2.0
// The classic form of Open MPI's rules.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "tune/export/openmpi_rules.hpp"

namespace tutti::tune {

namespace {

constexpr std::string_view kVersionWord = "rule-file-version-";
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 62U;
constexpr std::uint64_t kMostParameter = (std::uint64_t{1} << 31U) - 1;

class ClassicNumbers {
 public:
  ClassicNumbers(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  // Which Open MPI takes off the front before it looks for numbers; 1 where it is not there.
  Result<std::uint64_t> version() {
    if (!text_.starts_with(kVersionWord)) return std::uint64_t{1};
    text_.remove_prefix(kVersionWord.size());
    return next("the version", 1, kMostParameter);
  }

  Result<std::uint64_t> next(std::string_view what, std::uint64_t least, std::uint64_t most) {
    skip();
    if (text_.empty()) return wrong(fmt::format("{} is missing", what));
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    const auto length = static_cast<std::size_t>(stop - text_.data());
    if (error != std::errc() || value < 0 || static_cast<std::uint64_t>(value) < least ||
        static_cast<std::uint64_t>(value) > most)
      return wrong(fmt::format("{} is {}; it goes from {} to {}", what, text_.substr(0, length), least, most));
    text_.remove_prefix(length);
    return static_cast<std::uint64_t>(value);
  }

  [[nodiscard]] Status wrong(std::string_view words) const {
    return wrong_argument(fmt::format("{}:{}: {}", place_, line_, words));
  }

  // Whether the same line goes on with a number.
  bool goes_on() {
    std::size_t at = 0;
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    return at < text_.size() && text_[at] >= '0' && text_[at] <= '9';
  }

 private:
  void skip() {
    while (!text_.empty()) {
      const char next = text_.front();
      const bool is_digit = next >= '0' && next <= '9';
      if (is_digit || (next == '-' && text_.size() > 1 && text_[1] >= '0' && text_[1] <= '9')) return;
      if (next == '\n') ++line_;
      text_.remove_prefix(next == '#' ? std::min(text_.find('\n'), text_.size()) : 1);
    }
  }

  std::string_view text_;
  std::string_view place_;
  int line_ = 1;
};

Status read_messages(ClassicNumbers& numbers, std::uint64_t version, OpenMpiCommunicatorRule& rule) {
  TUTTI_TRY_ASSIGN(const std::uint64_t count, numbers.next("the number of message sizes", 0, kMostNumber));
  for (std::uint64_t each = 0; each < count; ++each) {
    OpenMpiMessageRule message;
    TUTTI_TRY_ASSIGN(message.least_bytes, numbers.next("a message size", 0, kMostNumber));
    if (each == 0 && message.least_bytes != 0)
      return numbers.wrong(fmt::format("the first message size is {}; it must be 0", message.least_bytes));
    TUTTI_TRY_ASSIGN(const std::uint64_t algorithm, numbers.next("an algorithm", 0, kMostParameter));
    TUTTI_TRY_ASSIGN(const std::uint64_t fan_out, numbers.next("a fan-out", 0, kMostParameter));
    TUTTI_TRY_ASSIGN(const std::uint64_t segment, numbers.next("a segment size", 0, kMostParameter));
    message.choice = {.algorithm = static_cast<std::uint32_t>(algorithm),
                      .fan_out = static_cast<std::uint32_t>(fan_out),
                      .segment_bytes = static_cast<std::uint32_t>(segment)};
    if (version > 1 && numbers.goes_on()) {
      TUTTI_TRY_ASSIGN(const std::uint64_t requests, numbers.next("a number of requests", 0, kMostParameter));
      message.choice.most_requests = static_cast<std::uint32_t>(requests);
    }
    rule.messages.push_back(std::move(message));
  }
  return {};
}

bool needs_version_2(const OpenMpiRules& rules) {
  for (const OpenMpiCollectiveRules& collective : rules.collectives)
    for (const OpenMpiCommunicatorRule& communicator : collective.communicators)
      for (const OpenMpiMessageRule& message : communicator.messages)
        if (message.choice.most_requests) return true;
  return false;
}

std::string line_of_message(const OpenMpiMessageRule& message) {
  const OpenMpiChoice& choice = message.choice;
  std::string line =
      fmt::format("{} {} {} {}", message.least_bytes, choice.algorithm, choice.fan_out, choice.segment_bytes);
  if (choice.most_requests) line += fmt::format(" {}", *choice.most_requests);
  return line + "\n";
}

}  // namespace

Result<OpenMpiRules> read_openmpi_classic(std::string_view text, std::string_view place) {
  const std::string shown = printable(place);
  ClassicNumbers numbers(text, shown);
  OpenMpiRules rules;
  TUTTI_TRY_ASSIGN(const std::uint64_t version, numbers.version());
  TUTTI_TRY_ASSIGN(const std::uint64_t count, numbers.next("the number of collectives", 1, kNumOpenMpiCollectives));
  for (std::uint64_t each = 0; each < count; ++each) {
    TUTTI_TRY_ASSIGN(const std::uint64_t number, numbers.next("a collective's number", 0, kNumOpenMpiCollectives - 1));
    OpenMpiCollectiveRules collective{.number = static_cast<std::uint32_t>(number), .communicators = {}};
    TUTTI_TRY_ASSIGN(const std::uint64_t num_sizes, numbers.next("the number of communicator sizes", 0, kMostNumber));
    for (std::uint64_t size = 0; size < num_sizes; ++size) {
      OpenMpiCommunicatorRule rule;
      TUTTI_TRY_ASSIGN(rule.least_ranks, numbers.next("a communicator size", 0, kMostNumber));
      TUTTI_TRY(read_messages(numbers, version, rule));
      collective.communicators.push_back(std::move(rule));
    }
    // Of a collective that is there twice the last rules count.
    std::erase_if(rules.collectives, [&](const auto& other) { return other.number == collective.number; });
    rules.collectives.push_back(std::move(collective));
  }
  return rules;
}

std::string write_openmpi_classic(const OpenMpiRules& rules, std::string_view about) {
  std::string text = needs_version_2(rules) ? fmt::format("{}2\n", kVersionWord) : "";
  text += fmt::format("# Made by tutti export from {}\n", printable(about));
  text += "# A line of four numbers: from so many bytes on, the algorithm, its fan-out, its segment size;\n";
  text += "# algorithm 0 is Open MPI's own choice.\n";
  text += fmt::format("{} # collectives\n", rules.collectives.size());
  for (const OpenMpiCollectiveRules& collective : rules.collectives) {
    text += fmt::format("\n{} # {}\n{} # communicator sizes\n", collective.number, openmpi_word_of(collective.number),
                        collective.communicators.size());
    for (const OpenMpiCommunicatorRule& rule : collective.communicators) {
      text +=
          fmt::format("{} {} # from so many ranks on, so many message sizes\n", rule.least_ranks, rule.messages.size());
      for (const OpenMpiMessageRule& message : rule.messages) text += line_of_message(message);
    }
  }
  return text;
}

}  // namespace tutti::tune
