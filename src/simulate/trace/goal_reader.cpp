// SPDX-License-Identifier: Apache-2.0
// Reading GOAL. The language is that of LogGOPSim's txt2bin; docs/formats/goal.md says where more is taken.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "simulate/trace/goal.hpp"
#include "simulate/trace/goal_words.hpp"

namespace tutti::simulate {

namespace {

using Kind = GoalWord::Kind;

constexpr std::uint64_t kMostAmount = std::uint64_t{1} << 62U;  // bytes, or nanoseconds

std::optional<std::uint64_t> number_up_to(const GoalWord& word, std::uint64_t most) {
  if (word.kind != Kind::number) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.text.data(), word.text.data() + word.text.size(), number);
  if (error != std::errc() || number > most) return std::nullopt;
  return number;
}

class GoalReader {
 public:
  GoalReader(std::string_view text, std::string_view file) : words_(text), file_(printable(file)) {}

  Result<Trace> read() {
    trace_.file = file_;
    if (!read_head()) return error_;
    while (skip_lines(), words_.next().kind != Kind::file_end)
      if (!read_rank()) return error_;
    const auto missing = std::find(is_there_.begin(), is_there_.end(), false);
    if (missing == is_there_.end()) return std::move(trace_);
    fail(words_.next(), fmt::format("rank {}: each of the {} stands there once", missing - is_there_.begin(),
                                    counted(is_there_.size(), "rank")));
    return error_;
  }

 private:
  // A dependency whose labels stand somewhere in the block.
  struct Named {
    GoalWord operation;
    GoalWord on;
    bool when_begun = false;
  };

  void skip_lines() {
    while (words_.next().kind == Kind::line_end) words_.take();
  }

  bool read_head() {
    skip_lines();
    if (!words_.take_if("num_ranks")) return fail(words_.next(), "num_ranks and how many there are");
    const GoalWord word = words_.take();
    const auto number = number_up_to(word, goal_text::kMostRanks);
    if (!number || *number == 0)
      return fail(word, fmt::format("a number of ranks from 1 to {}", goal_text::kMostRanks));
    trace_.ranks.resize(*number);
    is_there_.resize(*number);
    return true;
  }

  bool read_rank() {
    if (!words_.take_if("rank")) return fail(words_.next(), "rank and its number");
    const GoalWord word = words_.take();
    const auto number = number_up_to(word, trace_.ranks.size() - 1);
    if (!number) return fail(word, fmt::format("a rank from 0 to {}", trace_.ranks.size() - 1));
    if (is_there_[*number]) return fail(word, fmt::format("another rank: {} is there already", *number));
    is_there_[*number] = true;
    if (!words_.take_if("{")) return fail(words_.next(), "'{' behind the rank");
    rank_ = &trace_.ranks[*number];
    labels_.clear();
    named_.clear();
    while (skip_lines(), !words_.take_if("}"))
      if (!read_statement()) return false;
    return resolve();
  }

  bool read_statement() {
    constexpr std::string_view kExpected = "send, recv, calc, a label or '}'";
    GoalWord label;
    if (words_.next().kind == Kind::name && !is_action(words_.next())) {
      label = words_.take();
      if (label.text.size() > goal_text::kMostOfALabel)
        return fail(label, fmt::format("a label of at most {} letters", goal_text::kMostOfALabel));
      if (words_.next().is("requires") || words_.next().is("irequires")) return read_dependency(label);
      if (!words_.take_if(":")) return fail(words_.next(), "':', requires or irequires behind a label");
      if (!is_action(words_.next())) return fail(words_.next(), "send, recv or calc behind a label");
    }
    if (!is_action(words_.next())) return fail(words_.next(), kExpected);
    if (++num_operations_ > goal_text::kMostOperations)
      return fail(words_.next(), fmt::format("no more than {} operations in all", goal_text::kMostOperations));
    TraceOperation& operation = rank_->operations.emplace_back();
    operation.line = words_.next().line;
    if (label.kind == Kind::name) {
      operation.label = label.text;
      const auto number = static_cast<std::uint32_t>(rank_->operations.size() - 1);
      if (!labels_.try_emplace(label.text, number).second)
        return fail(label, "another label: this rank has an operation of that label already");
    }
    return read_operation(operation) && end_of_statement();
  }

  static bool is_action(const GoalWord& word) { return word.is("send") || word.is("recv") || word.is("calc"); }

  bool read_operation(TraceOperation& operation) {
    const GoalWord action = words_.take();
    operation.action = action.is("send") ? Action::send : action.is("recv") ? Action::receive : Action::compute;
    const bool computes = operation.action == Action::compute;
    const GoalWord amount = words_.take();
    const auto number = number_up_to(amount, kMostAmount);
    if (!number)
      return fail(amount, computes ? "a whole number of nanoseconds" : "a whole number of bytes, such as 8b");
    operation.amount = *number;
    if (!computes && !read_ends(operation)) return false;
    return read_options(operation, computes);
  }

  bool read_ends(TraceOperation& operation) {
    if (!words_.take_if("b")) return fail(words_.next(), "'b' behind the number of bytes");
    const bool sends = operation.action == Action::send;
    if (!words_.take_if(sends ? "to" : "from"))
      return fail(words_.next(), sends ? "'to' and a rank" : "'from' and a rank");
    if (words_.next().is("-"))
      return fail(words_.next(), sends ? "the rank that gets it"
                                       : "a rank: which message a receive from any rank takes would depend on times, "
                                         "so it cannot be simulated");
    const GoalWord peer = words_.take();
    const auto number = number_up_to(peer, trace_.ranks.size() - 1);
    if (!number) return fail(peer, fmt::format("a rank from 0 to {}", trace_.ranks.size() - 1));
    operation.peer = static_cast<std::uint32_t>(*number);
    return true;
  }

  bool read_options(TraceOperation& operation, bool computes) {
    bool has_tag = computes;
    bool has_cpu = false;
    bool has_nic = computes;
    while (true) {
      if (!has_tag && words_.take_if("tag")) {
        has_tag = true;
        if (!read_tag(operation)) return false;
      } else if (!has_cpu && words_.take_if("cpu")) {
        has_cpu = true;
        const GoalWord word = words_.take();
        const auto cpu = number_up_to(word, UINT8_MAX);
        if (!cpu) return fail(word, "a cpu from 0 to 255");
        operation.cpu = static_cast<std::uint8_t>(*cpu);
      } else if (!has_nic && words_.take_if("nic")) {
        has_nic = true;
        const GoalWord word = words_.take();
        if (!number_up_to(word, UINT8_MAX)) return fail(word, "a nic from 0 to 255");
      } else {
        return true;
      }
    }
  }

  bool read_tag(TraceOperation& operation) {
    if (operation.action == Action::receive && words_.take_if("-")) {
      const GoalWord one = words_.take();
      if (number_up_to(one, UINT32_MAX) != 1) return fail(one, "1: -1 is any tag");
      operation.tag = kAnyTag;
      return true;
    }
    const GoalWord word = words_.take();
    const auto tag = number_up_to(word, kAnyTag - 1);
    if (!tag)
      return fail(word, operation.action == Action::receive ? "a tag from 0 to 4294967294, or -1 for any"
                                                            : "a tag from 0 to 4294967294");
    operation.tag = static_cast<std::uint32_t>(*tag);
    return true;
  }

  bool read_dependency(const GoalWord& operation) {
    const bool when_begun = words_.take().is("irequires");
    const GoalWord on = words_.take();
    if (on.kind != Kind::name) return fail(on, "the label of another operation");
    if (++num_dependencies_ > goal_text::kMostDependencies)
      return fail(on, fmt::format("no more than {} dependencies in all", goal_text::kMostDependencies));
    named_.push_back({operation, on, when_begun});
    return end_of_statement();
  }

  bool end_of_statement() {
    if (words_.next().kind == Kind::line_end || words_.next().is("}")) return true;
    return fail(words_.next(), "the end of the line");
  }

  // Labels may stand behind what requires them.
  bool resolve() {
    for (const Named& named : named_) {
      const auto operation = labels_.find(named.operation.text);
      if (operation == labels_.end()) return fail(named.operation, "the label of an operation of this rank");
      const auto on = labels_.find(named.on.text);
      if (on == labels_.end()) return fail(named.on, "the label of an operation of this rank");
      rank_->dependencies.push_back({operation->second, on->second, named.when_begun});
    }
    return true;
  }

  bool fail(const GoalWord& word, std::string_view expected) {
    error_ = {Code::invalid_argument,
              fmt::format("{}:{}:{}: found {}, expected {}", file_, word.line, word.column, word.found(), expected)};
    return false;
  }

  GoalWords words_;
  std::string file_;
  Trace trace_;
  std::vector<bool> is_there_;  // by rank
  RankTrace* rank_ = nullptr;
  std::unordered_map<std::string_view, std::uint32_t> labels_;  // of this rank
  std::vector<Named> named_;
  std::uint64_t num_operations_ = 0;
  std::uint64_t num_dependencies_ = 0;
  Status error_;
};

// What LogGOPSim's txt2bin makes begins so, lowest byte first.
constexpr std::uint64_t kBinaryGoal = 4223;

bool is_binary_goal(std::string_view text) {
  std::uint64_t first = 0;
  if (text.size() >= sizeof first) std::memcpy(&first, text.data(), sizeof first);
  return first == kBinaryGoal;
}

}  // namespace

std::string in_goal(const TraceOperation& operation) {
  std::string text = operation.label.empty() ? "" : operation.label + ": ";
  if (operation.action == Action::compute) return text + fmt::format("calc {}", operation.amount);
  const bool sends = operation.action == Action::send;
  text += fmt::format("{} {}b {} {} tag ", sends ? "send" : "recv", operation.amount, sends ? "to" : "from",
                      operation.peer);
  return text + (operation.tag == kAnyTag ? "-1" : std::to_string(operation.tag));
}

Result<Trace> read_goal(std::string_view text, std::string_view file) {
  if (text.size() > goal_text::kMostBytes)
    return Status(Code::invalid_argument, fmt::format("{}: found {} bytes, expected {} at most", printable(file),
                                                      text.size(), goal_text::kMostBytes));
  if (is_binary_goal(text))
    return Status(
        Code::invalid_argument,
        fmt::format("{}: found GOAL's binary form, expected the text that it was made from", printable(file)));
  return GoalReader(text, file).read();
}

bool looks_like_goal(std::string_view text) {
  if (is_binary_goal(text)) return true;
  GoalWords words(text);
  while (words.next().kind == Kind::line_end) words.take();
  return words.next().is("num_ranks") || words.next().is("rank");
}

}  // namespace tutti::simulate
