// SPDX-License-Identifier: Apache-2.0
#include "algorithms/full_name.hpp"

#include <charconv>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"

namespace tutti {

namespace {

// "name(a, b)" as name, and "a, b".
struct Words {
  std::string_view name;
  std::string_view parameters;
};

Result<Words> words_of(std::string_view text) {
  text = trim(text);
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return Words{text, ""};
  if (text.back() != ')')
    return Status(Code::invalid_argument, fmt::format("{} has no closing parenthesis", in_quotes(text)));
  return Words{trim(text.substr(0, open)), text.substr(open + 1, text.size() - open - 2)};
}

// At the commas that are in no parentheses.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || (text[at] == ',' && depth == 0)) {
      parts.push_back(trim(text.substr(begin, at - begin)));
      begin = at + 1;
    } else if (text[at] == '(') {
      ++depth;
    } else if (text[at] == ')') {
      --depth;
    }
  }
  return parts;
}

bool take_number(std::string_view text, std::uint32_t& number) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last;
}

bool take_numbers(std::string_view text, char separator, std::vector<std::uint32_t>& numbers) {
  for (const std::string_view word : split(text, separator))
    if (!take_number(word, numbers.emplace_back())) return false;
  return true;
}

Status unknown(Collective collective, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Algorithm* each : algorithms_of(collective)) names.push_back(each->name);
  return {Code::invalid_argument, fmt::format("no algorithm for {} is called {}; there are {}", name_of(collective),
                                              in_quotes(name), fmt::join(names, ", "))};
}

class Reader {
 public:
  Reader(Collective collective, CaseFilter& filter) : collective_(collective), filter_(filter) {}

  Result<const Algorithm*> read(std::string_view text) {
    TUTTI_TRY_ASSIGN(const Words words, words_of(text));
    const Algorithm* const algorithm = find_algorithm(collective_, words.name);
    if (algorithm == nullptr) return unknown(collective_, words.name);
    if (words.parameters.empty()) return algorithm;
    for (const std::string_view part : parts_of(words.parameters))
      if (Status status = take(*algorithm, part); !status.ok()) return status;
    return algorithm;
  }

 private:
  Status take(const Algorithm& algorithm, std::string_view part) {
    constexpr std::string_view kCorner = "corner ";
    std::vector<std::uint32_t> numbers;
    std::uint32_t number = 0;
    if (algorithm.takes.corner && part.starts_with(kCorner) && take_number(part.substr(kCorner.size()), number)) {
      filter_.corner = number;
    } else if (algorithm.takes.radix && take_number(part, number)) {
      filter_.radix = number;
    } else if (algorithm.takes.grid && take_numbers(part, 'x', numbers) && numbers.size() >= 2 &&
               numbers.size() <= algorithm.takes.dimensions()) {
      filter_.grid = Grid{numbers[0], numbers[1], numbers.size() == 2 ? 1 : numbers[2]};
    } else if (numbers.clear(); algorithm.takes.groups && take_numbers(part, '+', numbers)) {
      filter_.groups = numbers;
    } else if (algorithm.takes.groups) {
      TUTTI_TRY_ASSIGN(const Algorithm* const inner, read(part));
      filter_.inner = std::string(inner->name);
    } else {
      return {Code::invalid_argument, fmt::format("{} is no parameter of {}", in_quotes(part), algorithm.name)};
    }
    return {};
  }

  Collective collective_;
  CaseFilter& filter_;
};

}  // namespace

Result<NamedAlgorithm> find_by_full_name(Collective collective, std::string_view text, std::uint32_t num_ranks,
                                         const std::optional<std::vector<std::uint32_t>>& machine_grid) {
  CaseFilter filter{.root = 0, .machine_grid = machine_grid};
  TUTTI_TRY_ASSIGN(const Algorithm* const algorithm, Reader(collective, filter).read(text));
  const Cases cases = find_cases(*algorithm, num_ranks, filter);
  if (!cases.requests.empty()) return NamedAlgorithm{algorithm, cases.requests.front()};
  if (cases.lacks_grid) {
    const Algorithm* const inner = filter.inner ? find_algorithm(collective, *filter.inner) : nullptr;
    const Algorithm& lacking = inner == nullptr ? *algorithm : *inner;
    return Status(Code::unsupported, fmt::format("{}: {}; say {}({})", trim(text), cases.objection, lacking.name,
                                                 form_of_grid(lacking.takes)));
  }
  return Status(Code::unsupported,
                fmt::format("{} does not run on {}: {}", trim(text), counted(num_ranks, "rank"),
                            cases.objection.empty() ? std::string(algorithm->ranks) : cases.objection));
}

}  // namespace tutti
