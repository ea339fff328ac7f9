// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/output/fail_on.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/bench/output/progress.hpp"

namespace tutti::cli {

using harness::Verdict;

namespace {

bool is_hit(const FailOn& fail, const harness::Ratio& ratio) {
  if (ratio.verdict != fail.verdict) return false;
  const double beyond = fail.verdict == Verdict::slower ? 1 / ratio.ratio - 1 : ratio.ratio - 1;
  return beyond > fail.share;
}

}  // namespace

Result<std::optional<FailOn>> read_fail_on(const std::string& text) {
  if (text.empty()) return std::optional<FailOn>();
  const std::size_t colon = text.find(':');
  const std::string_view word = std::string_view(text).substr(0, colon);
  FailOn fail;
  if (same_name(word, "faster")) fail.verdict = Verdict::faster;
  const bool is_known = same_name(word, "slower") || same_name(word, "faster");
  const Result<double> share = parse_share(colon == std::string::npos ? "" : text.substr(colon + 1));
  if (!is_known || !share.ok())
    return Status(
        Code::invalid_argument,
        fmt::format("--fail-on is {}; it takes slower or faster, with a share such as slower:3%", in_quotes(text)));
  fail.share = *share;
  return std::optional(fail);
}

std::string Account::in_words() const {
  std::string text;
  const auto add = [&](int count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  for (const Verdict verdict : {Verdict::faster, Verdict::same, Verdict::slower, Verdict::undecided}) {
    const auto found = verdicts.find(verdict);
    if (found != verdicts.end()) add(found->second, name_of(verdict));
  }
  add(num_bad, "wrong or not measured");
  add(num_unmatched, "there only once");
  return text.empty() ? "nothing was compared" : text;
}

Account account_of(const harness::Comparison& comparison, std::size_t baseline, const std::optional<FailOn>& fail_on) {
  Account account;
  for (const harness::ComparedCase& one : comparison.cases) {
    for (const std::optional<harness::Row>& row : one.rows) {
      if (!row) {
        ++account.num_unmatched;
      } else if (is_bad(*row)) {
        ++account.num_bad;
      }
    }
    for (std::size_t each = 0; each < one.rows.size(); ++each) {
      if (each == baseline) continue;
      const std::optional<harness::Ratio> ratio = comparison.compare(one, each, baseline);
      if (!ratio) continue;
      ++account.verdicts[ratio->verdict];
      if (fail_on && is_hit(*fail_on, *ratio)) ++account.num_hits;
    }
  }
  return account;
}

}  // namespace tutti::cli
