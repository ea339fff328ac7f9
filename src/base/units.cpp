// SPDX-License-Identifier: Apache-2.0
#include "base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti {

namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

// What differs between the quantities; the grammar (number, blanks, unit) is common.
struct Quantity {
  std::string_view noun;
  std::string_view right;  // what a reader who got it wrong should write
  std::span<const Unit> units;
  bool either_case;
  std::uint64_t greatest;
};

constexpr auto kByteUnits = std::to_array<Unit>({
    {"", 1},
    {"B", 1},
    {"K", 1ULL << 10},
    {"KB", 1ULL << 10},
    {"KiB", 1ULL << 10},
    {"M", 1ULL << 20},
    {"MB", 1ULL << 20},
    {"MiB", 1ULL << 20},
    {"G", 1ULL << 30},
    {"GB", 1ULL << 30},
    {"GiB", 1ULL << 30},
    {"T", 1ULL << 40},
    {"TB", 1ULL << 40},
    {"TiB", 1ULL << 40},
});
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr auto kTimeUnits = std::to_array<Unit>({
    {"", kSecond},
    {"ns", 1},
    {"us", 1'000},
    {"\u00b5s", 1'000},  // micro sign
    {"\u03bcs", 1'000},  // Greek mu
    {"ms", 1'000'000},
    {"s", kSecond},
    {"m", 60 * kSecond},
    {"min", 60 * kSecond},
    {"h", 3600 * kSecond},
});

constexpr std::uint64_t kGreatestSigned = std::numeric_limits<std::int64_t>::max();
// Sizes end where signed offsets of the operating system do.
constexpr Quantity kSize{"a size", "write bytes with K, M, G or T behind them, such as 4M", kByteUnits, true,
                         kGreatestSigned};
constexpr Quantity kDuration{"a duration", "write a number and ns, us, ms, s, m or h, such as 250ms (no unit: seconds)",
                             kTimeUnits, false, kGreatestSigned};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

Status wrong(std::string_view found, const std::string& why, const Quantity& quantity) {
  return {Code::invalid_argument,
          fmt::format("{} is not {}: {}; {}", in_quotes(found), quantity.noun, why, quantity.right)};
}

std::size_t leading_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return count;
}

// Nothing where the digits are more than 64 bits hold.
std::optional<std::uint64_t> number_from(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// 0.digits * factor, where that is a whole number.
std::optional<std::uint64_t> exact_fraction(std::string_view digits, std::uint64_t factor) {
  while (!digits.empty() && digits.back() == '0') digits.remove_suffix(1);
  constexpr std::size_t kMostDigits = 19;  // 10^19 is the last power of ten that 64 bits hold
  if (digits.empty()) return 0;
  if (digits.size() > kMostDigits) return std::nullopt;
  std::uint64_t divisor = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) divisor *= 10;
  const std::uint64_t numerator = *number_from(digits);
  const std::uint64_t common = std::gcd(factor, divisor);
  if (numerator % (divisor / common) != 0) return std::nullopt;
  return numerator / (divisor / common) * (factor / common);
}

const Unit* find_unit(const Quantity& quantity, std::string_view suffix) {
  for (const Unit& unit : quantity.units) {
    if (unit.suffix == suffix || (quantity.either_case && same_name(unit.suffix, suffix))) return &unit;
  }
  return nullptr;
}

Result<std::uint64_t> parse_quantity(std::string_view given, const Quantity& quantity) {
  const std::string_view text = trim(given);
  if (text.empty()) return wrong(given, "there is nothing", quantity);
  if (text.front() == '-') return wrong(given, "it is negative", quantity);
  const std::size_t whole_digits = leading_digits(text);
  if (whole_digits == 0) return wrong(given, "it does not begin with a number", quantity);

  std::string_view rest = text.substr(whole_digits);
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    fraction = rest.substr(1, leading_digits(rest.substr(1)));
    if (fraction.empty()) return wrong(given, "no digit follows the point", quantity);
    rest.remove_prefix(1 + fraction.size());
  }
  const std::string_view suffix = trim(rest);
  const Unit* unit = find_unit(quantity, suffix);
  if (unit == nullptr) return wrong(given, fmt::format("{} is not a unit", in_quotes(suffix)), quantity);

  const std::optional<std::uint64_t> whole = number_from(text.substr(0, whole_digits));
  if (!whole || *whole > quantity.greatest / unit->factor) return wrong(given, "it is too large", quantity);
  const std::optional<std::uint64_t> part = exact_fraction(fraction, unit->factor);
  if (!part) return wrong(given, "its fraction is not exact in the smallest unit", quantity);
  const std::uint64_t product = *whole * unit->factor;
  if (*part > quantity.greatest - product) return wrong(given, "it is too large", quantity);
  return product + *part;
}

struct RangeStep {
  bool multiplies = true;
  std::uint64_t amount = 2;
};

Result<RangeStep> parse_step(std::string_view text, std::string_view range) {
  const auto bad = [&](std::string_view why) {
    return Status(Code::invalid_argument, fmt::format("the step {} of the range {} {}; write x2 to multiply or +64 to "
                                                      "add",
                                                      in_quotes(text), in_quotes(range), why));
  };
  if (text.empty() || (text.front() != 'x' && text.front() != '+')) return bad("begins with neither x nor +");
  const bool multiplies = text.front() == 'x';
  const std::string_view amount = text.substr(1);
  if (multiplies) {
    const std::optional<std::uint64_t> factor = number_from(amount);
    if (!factor) return bad("does not multiply by a whole number");
    if (*factor < 2) return bad("gets nowhere");
    return RangeStep{true, *factor};
  }
  const Result<Bytes> added = parse_bytes(amount);
  if (!added.ok()) return added.status().with_context(std::string(bad("does not add a size").message()));
  if (added->value() == 0) return bad("gets nowhere");
  return RangeStep{false, added->value()};
}

Status append_range(std::string_view text, std::size_t most, std::vector<Bytes>& points) {
  const std::vector<std::string_view> parts = split(text, ':');
  const auto bad = [&](std::string_view why) {
    return Status(Code::invalid_argument,
                  fmt::format("the range {} {}; write BEGIN:END:STEP, such as 8:64M:x4", in_quotes(text), why));
  };
  if (parts.size() > 3) return bad("has more than three parts");
  TUTTI_TRY_ASSIGN(const Bytes begin, parse_bytes(parts[0]));
  TUTTI_TRY_ASSIGN(const Bytes end, parse_bytes(parts[1]));
  RangeStep step;
  if (parts.size() == 3) {
    TUTTI_TRY_ASSIGN(step, parse_step(parts[2], text));
  }
  if (begin > end) return bad("ends before it begins");
  if (begin.value() == 0 && step.multiplies && end > begin) return bad("begins at 0, which no factor leads away from");

  const std::uint64_t last = end.value();
  const std::size_t before = points.size();
  for (std::uint64_t at = begin.value(); at < last;) {
    if (points.size() - before + 1 >= most) return bad(fmt::format("has more than {} points", most));
    points.emplace_back(at);
    const bool past_end = step.multiplies ? at > last / step.amount : step.amount > last - at;
    if (past_end) break;
    at = step.multiplies ? at * step.amount : at + step.amount;
  }
  points.emplace_back(last);
  return {};
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text) {
  const std::string_view trimmed = trim(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  if (error == std::errc::result_out_of_range) {
    return Status(Code::invalid_argument, fmt::format("{} is too large a number", in_quotes(text)));
  }
  if (error != std::errc() || end != trimmed.data() + trimmed.size()) {
    return Status(Code::invalid_argument, fmt::format("{} is not a whole number", in_quotes(text)));
  }
  return number;
}

Result<Bytes> parse_bytes(std::string_view text) {
  TUTTI_TRY_ASSIGN(const std::uint64_t number, parse_quantity(text, kSize));
  return Bytes(number);
}

Result<Nanos> parse_duration(std::string_view text) {
  TUTTI_TRY_ASSIGN(const std::uint64_t number, parse_quantity(text, kDuration));
  return Nanos(static_cast<std::int64_t>(number));
}

Result<double> parse_share(std::string_view text) {
  std::string_view digits = trim(text);
  const bool has_sign = digits.ends_with('%');
  if (has_sign) digits = trim(digits.substr(0, digits.size() - 1));
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number) || number < 0)
    return Status(Code::invalid_argument, fmt::format("{} is no share such as 2% or 0.02", in_quotes(text)));
  return has_sign ? number / 100 : number;
}

Result<std::vector<Bytes>> parse_byte_list(std::string_view text, std::size_t most) {
  std::vector<Bytes> points;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') != std::string_view::npos) {
      TUTTI_TRY(append_range(part, most, points));
      continue;
    }
    TUTTI_TRY_ASSIGN(const Bytes point, parse_bytes(part));
    points.push_back(point);
  }
  return points;
}

std::string to_text(Bytes bytes) {
  constexpr std::string_view kSuffixes = "TGMK";
  if (bytes.value() != 0) {
    for (std::size_t i = 0; i < kSuffixes.size(); ++i) {
      const std::uint64_t factor = 1ULL << (10 * (kSuffixes.size() - i));
      if (bytes.value() % factor == 0) return fmt::format("{}{}", bytes.value() / factor, kSuffixes[i]);
    }
  }
  return fmt::format("{}", bytes.value());
}

std::string to_text(Nanos nanos) {
  const std::string_view sign = nanos.value() < 0 ? "-" : "";
  const auto bits = static_cast<std::uint64_t>(nanos.value());
  const std::uint64_t size = nanos.value() < 0 ? 0 - bits : bits;
  if (size == 0) return "0s";
  if (size % (3600 * kSecond) == 0) return fmt::format("{}{}h", sign, size / (3600 * kSecond));
  if (size % (60 * kSecond) == 0) return fmt::format("{}{}m", sign, size / (60 * kSecond));
  struct Scale {
    std::string_view suffix;
    std::uint64_t factor;
    int digits;
  };
  constexpr std::array<Scale, 4> kScales{{{"s", kSecond, 9}, {"ms", 1'000'000, 6}, {"us", 1'000, 3}, {"ns", 1, 0}}};
  const Scale* scale = kScales.data();
  while (size < scale->factor) ++scale;
  std::string text = fmt::format("{}{}", sign, size / scale->factor);
  if (const std::uint64_t rest = size % scale->factor; rest != 0) {
    text += fmt::format(".{:0{}}", rest, scale->digits);
    text.erase(text.find_last_not_of('0') + 1);
  }
  text += scale->suffix;
  return text;
}

}  // namespace tutti
