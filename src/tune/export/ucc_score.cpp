// SPDX-License-Identifier: Apache-2.0
#include "tune/export/ucc_score.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "data/message_size.hpp"

namespace tutti::tune {

namespace {

struct UccWord {
  Collective collective{};
  std::string_view word;
  bool counts_block = false;  // its size is that of one block, not of all
};
// ucc_coll_args_msgsize(): of a reduce-scatter the result, of all others the larger buffer.
constexpr auto kUccWords = std::to_array<UccWord>({{Collective::all_reduce, "allreduce"},
                                                   {Collective::all_gather, "allgather"},
                                                   {Collective::reduce_scatter, "reduce_scatter", true},
                                                   {Collective::broadcast, "bcast"},
                                                   {Collective::reduce, "reduce"},
                                                   {Collective::all_to_all, "alltoall"},
                                                   {Collective::gather, "gather"},
                                                   {Collective::scatter, "scatter"},
                                                   {Collective::barrier, "barrier"}});

const UccWord* ucc_word(Collective collective) {
  const auto found = std::find_if(kUccWords.begin(), kUccWords.end(),
                                  [&](const UccWord& each) { return each.collective == collective; });
  return found == kUccWords.end() ? nullptr : &*found;
}

std::uint64_t ucc_blocks(Collective collective, std::uint32_t ranks) {
  const UccWord* const word = ucc_word(collective);
  return word != nullptr && word->counts_block ? num_blocks(collective, ranks) : 1;
}

bool is_ucc_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string size_word(std::uint64_t bytes) { return bytes == kNoEnd ? "inf" : to_text(Bytes(bytes)); }

std::optional<std::uint64_t> read_size_word(std::string_view word) {
  if (same_name(word, "inf")) return kNoEnd;
  const Result<Bytes> bytes = parse_bytes(word);
  if (!bytes.ok()) return std::nullopt;
  return bytes->value();
}

std::optional<std::uint32_t> read_ranks_word(std::string_view word) {
  if (same_name(word, "inf")) return ~std::uint32_t{0};
  std::uint32_t number = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || stop != word.data() + word.size()) return std::nullopt;
  return number;
}

// A token of a score into what it says; false where it is none. What is said twice is none either.
class ScoreTokens {
 public:
  bool take(std::string_view token, UccScore& score) {
    const auto word = std::find_if(kUccWords.begin(), kUccWords.end(),
                                   [&](const UccWord& each) { return same_name(each.word, token); });
    if (word != kUccWords.end()) {
      score.collective = word->collective;
      return once(has_collective_);
    }
    if (token.starts_with('@') && is_ucc_name(token.substr(1))) {
      score.algorithm = token.substr(1);
      return once(has_algorithm_);
    }
    if (token.starts_with('[') && token.ends_with(']')) return once(has_ranks_) && take_ranks(token, score);
    if (token.find('-') != std::string_view::npos) return once(has_sizes_) && take_sizes(token, score);
    return read_ranks_word(token).has_value() && once(has_score_);
  }
  [[nodiscard]] bool has_collective() const { return has_collective_; }

 private:
  static bool once(bool& had) {
    const bool is_first = !had;
    had = true;
    return is_first;
  }
  static bool take_ranks(std::string_view token, UccScore& score) {
    const std::vector<std::string_view> ends = split(token.substr(1, token.size() - 2), '-');
    const auto least = read_ranks_word(ends.front());
    const auto most = read_ranks_word(ends.back());
    if (ends.size() > 2 || !least || !most || *least > *most) return false;
    score.least_ranks = *least;
    score.most_ranks = *most;
    return true;
  }
  static bool take_sizes(std::string_view token, UccScore& score) {
    const std::vector<std::string_view> ends = split(token, '-');
    const auto least = read_size_word(ends.front());
    const auto most = read_size_word(ends.back());
    if (ends.size() != 2 || !least || !most || *least >= *most) return false;
    score.least_bytes = *least;
    score.most_bytes = *most;
    return true;
  }

  bool has_collective_ = false;
  bool has_algorithm_ = false;
  bool has_ranks_ = false;
  bool has_sizes_ = false;
  bool has_score_ = false;
};

std::string objection_to_ucc(const RuleRange& range) {
  for (const auto& [name, value] : range.variables) {
    if (name != kUccAlgorithm) return fmt::format("a score cannot set {}", name);
    if (!is_ucc_name(value)) return fmt::format("{} is no name or number of an algorithm", in_quotes(value));
  }
  return "";
}

// Of a range with an algorithm.
UccScore score_of(const RuleSection& section, std::size_t each) {
  const std::uint64_t blocks = ucc_blocks(section.collective, section.ranks);
  const RuleRange& range = section.ranges[each];
  UccScore score;
  score.collective = section.collective;
  score.least_ranks = score.most_ranks = section.ranks;
  score.algorithm = range.variables.front().second;
  // The first size behind the range before, in UCC's sizes.
  if (each > 0) score.least_bytes = section.ranges[each - 1].most_bytes / blocks + 1;
  if (range.most_bytes == kNoEnd) return score;
  // UCC leaves a size that two scores share to the later one, but not to its own default, which scores less.
  const bool is_followed = each + 1 < section.ranges.size() && !section.ranges[each + 1].is_own_choice();
  score.most_bytes = range.most_bytes / blocks + (is_followed ? 1 : 0);
  return score;
}

}  // namespace

std::string UccScores::find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const {
  const std::uint64_t size = collective == Collective::barrier ? 0 : bytes / ucc_blocks(collective, ranks);
  const UccScore* found = nullptr;
  for (const UccScore& score : scores) {
    if (score.collective != collective || ranks < score.least_ranks || ranks > score.most_ranks) continue;
    if (size < score.least_bytes || size > score.most_bytes) continue;
    if (found == nullptr || score.least_bytes >= found->least_bytes) found = &score;
  }
  return found == nullptr ? "" : found->algorithm;
}

Result<UccScores> read_ucc_scores(std::string_view text, std::string_view place) {
  UccScores scores;
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return scores;
  std::size_t number = 0;
  for (const std::string_view part : split(text, '#')) {
    ++number;
    UccScore score;
    ScoreTokens tokens;
    for (const std::string_view token : split(part, ':'))
      if (!tokens.take(token, score))
        return wrong_argument(fmt::format("{}:1: score {}: {} is no part of a score, or one that was there",
                                          printable(place), number, in_quotes(token)));
    if (!tokens.has_collective())
      return wrong_argument(fmt::format("{}:1: score {}: the collective is missing", printable(place), number));
    scores.scores.push_back(std::move(score));
  }
  return scores;
}

std::string write_ucc_scores(const UccScores& scores) {
  std::string text;
  for (const UccScore& score : scores.scores) {
    const UccWord* const word = ucc_word(score.collective);
    if (word == nullptr) continue;
    const std::string ranks = score.least_ranks == score.most_ranks
                                  ? fmt::format("[{}]", score.least_ranks)
                                  : fmt::format("[{}-{}]", score.least_ranks, score.most_ranks);
    text += fmt::format("{}{}:{}-{}:{}:@{}:inf", text.empty() ? "" : "#", word->word, size_word(score.least_bytes),
                        size_word(score.most_bytes), ranks, score.algorithm);
  }
  return text + "\n";
}

Exported export_to_ucc(Rules rules) {
  leave_out_sections(rules, [](const RuleSection& section) {
    return ucc_word(section.collective) == nullptr ? "UCC has no such collective" : "";
  });
  leave_out(rules, [](const RuleSection&, const RuleRange& range) { return objection_to_ucc(range); });
  simplify(rules);
  leave_out_sections(rules, [](const RuleSection& section) {
    return section.collective == Collective::barrier && !section.is_uniform()
               ? "it has several ranges, and a barrier has no size"
               : "";
  });
  leave_out(rules, [](const RuleSection& section, const RuleRange& range) {
    const UccScore score = score_of(section, static_cast<std::size_t>(&range - section.ranges.data()));
    return score.least_bytes == score.most_bytes ? "a score is for more than one size" : "";
  });
  simplify(rules);
  UccScores scores;
  for (const RuleSection& section : rules.sections)
    for (std::size_t each = 0; each < section.ranges.size(); ++each) {
      if (section.ranges[each].is_own_choice()) continue;
      UccScore score = score_of(section, each);
      // Of ends between which no block's size lies.
      if (score.least_bytes < score.most_bytes) scores.scores.push_back(std::move(score));
    }
  Exported exported;
  exported.text = write_ucc_scores(scores);
  exported.file_variable = "UCC_TL_UCP_TUNE";
  exported.is_file = false;
  exported.rules = std::move(rules);
  return exported;
}

}  // namespace tutti::tune
