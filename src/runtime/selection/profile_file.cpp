// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/profile_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "base/assert.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "base/toml/document.hpp"
#include "base/toml/quoted.hpp"
#include "base/units.hpp"
#include "runtime/selection/profile_fields.hpp"

namespace tutti {

namespace {

using document::quoted;

using document::Section;

constexpr std::string_view kUnlimited = "unlimited";
constexpr std::string_view kRightSize =
    "write bytes such as 64K, a multiple of a cache such as '1/6 first_cache' (first_cache, core_cache, "
    "last_level_cache), or unlimited";

constexpr std::string_view kOrBase =
    "a profile that leaves something out says based_on = \"generic\", or another that ships";

struct CacheName {
  std::string_view name;
  Size::Of of;
};
constexpr CacheName kCacheNames[] = {{"first_cache", Size::Of::first_cache},
                                     {"core_cache", Size::Of::core_cache},
                                     {"last_level_cache", Size::Of::last_level_cache}};

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number < 0)
    return std::nullopt;
  return number;
}

// "0.25", "1/6".
std::optional<double> times_in(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return number_in(text);
  const auto above = number_in(text.substr(0, slash));
  const auto below = number_in(text.substr(slash + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

// Reads sizes and names of one table, and says what is wrong with them there.
class Reader {
 public:
  explicit Reader(const Section& section) : section_(section) {}

  Status size(std::string_view key, Size& size) const {
    std::string text;
    if (!section_.has(key)) return {};
    TUTTI_TRY(section_.read(key, text));
    const Result<Size> read = parse_profile_size(text);
    if (!read.ok()) return section_.wrong(key, read.status().message());
    size = *read;
    return {};
  }

  Status collective(Collective& collective) const {
    std::string name;
    TUTTI_TRY(section_.read("collective", name));
    const std::optional<Collective> found = find_collective(name);
    if (!found)
      return section_.wrong(
          "collective", name.empty() ? "is missing; write which collective" : in_quotes(name) + " is no collective");
    collective = *found;
    return {};
  }

  Status ranks(std::string_view key, std::uint32_t& ranks) const { return section_.read(key, ranks, 1 << 20); }

 private:
  const Section& section_;
};

Result<Rule> read_rule(const Section& section) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"collective", "most_ranks", "most_bytes", "below_bytes", "most_bytes_per_rank",
                                       "memory", "attached", "crowded", "hosts", "algorithm"});
  TUTTI_TRY(section.check_keys(kKeys));
  const Reader reader(section);
  Rule rule;
  TUTTI_TRY(reader.collective(rule.collective));
  TUTTI_TRY(reader.ranks("most_ranks", rule.most_ranks));
  TUTTI_TRY(reader.size("most_bytes", rule.most_bytes));
  if (section.has("below_bytes")) {
    if (section.has("most_bytes")) return section.wrong("below_bytes", "stands beside most_bytes; write one of them");
    Size below = 0;
    TUTTI_TRY(reader.size("below_bytes", below));
    if (below.is_relative() || below == 0 || below == kAnySize)
      return section.wrong("below_bytes", "is no number of bytes from 1 on; write most_bytes for other sizes");
    rule.most_bytes = below - 1;
  }
  std::string memory = "any";
  TUTTI_TRY(section.read("memory", memory));
  if (memory != "any" && memory != "symmetric")
    return section.wrong("memory", fmt::format("is {}; it takes any or symmetric", in_quotes(memory)));
  rule.symmetric = memory == "symmetric";
  TUTTI_TRY(section.read("attached", rule.attached));
  TUTTI_TRY(section.read("crowded", rule.crowded));
  TUTTI_TRY(section.read("hosts", rule.hosts));
  if (rule.hosts && rule.most_bytes.is_relative())
    return section.wrong("most_bytes", "is a share of a cache, in which hosts may differ; rules for hosts take bytes");
  Size per_rank = kAnySize;
  TUTTI_TRY(reader.size("most_bytes_per_rank", per_rank));
  if (per_rank.is_relative()) return section.wrong("most_bytes_per_rank", "is a share of a cache; it takes bytes");
  if (section.has("most_bytes_per_rank") && !rule.hosts)
    return section.wrong("most_bytes_per_rank", "is for rules with hosts = true");
  rule.most_bytes_per_rank = per_rank;
  TUTTI_TRY(section.read("algorithm", rule.algorithm));
  if (rule.algorithm.empty()) return section.wrong("algorithm", "is missing; 'tutti algorithms' lists them");
  if (rule.algorithm.ends_with(kCoresParameter) && !rule.crowded)
    return section.wrong("algorithm", "has the parameter (cores), which is for rules with crowded = true");
  if (rule.algorithm.find(kHostsParameter) != std::string::npos && !rule.hosts)
    return section.wrong("algorithm", "has the parameter hosts, which is for rules with hosts = true");
  // Where it has a meaning at all: whether it is one for these ranks is seen when a communicator is made.
  const Result<NamedAlgorithm> found = rule.hosts
                                           ? find_by_full_name(rule.collective, rule.algorithm_between({1, 2}), 3)
                                           : find_by_full_name(rule.collective, rule.algorithm_for(0), 2);
  if (!found.ok() && found.status().code() != Code::unsupported)
    return section.wrong("algorithm", found.status().message());
  return rule;
}

Result<AttachRange> read_attach(const Section& section) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"collective", "least_bytes", "most_bytes", "least_ranks", "most_ranks", "stores", "crowded"});
  TUTTI_TRY(section.check_keys(kKeys));
  const Reader reader(section);
  AttachRange range;
  TUTTI_TRY(reader.collective(range.collective));
  TUTTI_TRY(reader.size("least_bytes", range.least_bytes));
  TUTTI_TRY(reader.size("most_bytes", range.most_bytes));
  TUTTI_TRY(reader.ranks("least_ranks", range.least_ranks));
  TUTTI_TRY(reader.ranks("most_ranks", range.most_ranks));
  TUTTI_TRY(section.read("stores", range.stores));
  TUTTI_TRY(section.read("crowded", range.crowded));
  return range;
}

std::string range_of(const ProfileField& field) {
  if (std::holds_alternative<Size MachineProfile::*>(field.member)) {
    const std::string least = to_text(Size(static_cast<std::uint64_t>(field.least)));
    const bool is_bounded = field.most < profile_limits::kUnbounded;
    return fmt::format("{} to {}", least,
                       is_bounded ? to_text(Size(static_cast<std::uint64_t>(field.most))) : std::string(kUnlimited));
  }
  return fmt::format("{} to {}", field.least, field.most);
}

Status read_field(const Section& section, const ProfileField& field, bool may_lack, MachineProfile& profile) {
  if (!section.has(field.key))
    return may_lack ? Status() : section.wrong(field.key, fmt::format("is missing ({}); {}", field.about, kOrBase));
  const auto out_of_range = [&](double value) { return value < field.least || value > field.most; };
  const auto refuse = [&] { return section.wrong(field.key, fmt::format("is out of range: {}", range_of(field))); };
  if (const auto* const member = std::get_if<Size MachineProfile::*>(&field.member)) {
    Size& size = profile.*(*member);
    TUTTI_TRY(Reader(section).size(field.key, size));
    if (size.is_relative() && field.is_plain)
      return section.wrong(field.key, "is a multiple of a cache; write bytes such as 64K, for memory is made by it");
    return !size.is_relative() && out_of_range(static_cast<double>(std::uint64_t{size})) ? refuse() : Status();
  }
  if (const auto* const member = std::get_if<std::uint32_t MachineProfile::*>(&field.member)) {
    std::uint32_t& number = profile.*(*member);
    constexpr double kMost = 4294967295.0;
    TUTTI_TRY(section.read(field.key, number, static_cast<std::uint32_t>(std::min(field.most, kMost))));
    return out_of_range(number) ? refuse() : Status();
  }
  double& number = profile.*std::get<double MachineProfile::*>(field.member);
  TUTTI_TRY(section.read(field.key, number));
  return out_of_range(number) ? refuse() : Status();
}

std::vector<std::string_view> sections_of_fields() {
  std::vector<std::string_view> names;
  for (const ProfileField& field : kProfileFields)
    if (names.empty() || names.back() != field.section) names.push_back(field.section);
  return names;
}

Status read_fields(const Section& document, bool may_lack, MachineProfile& profile) {
  for (const std::string_view name : sections_of_fields()) {
    const Result<std::optional<Section>> section = document.section(name);
    if (!section.ok()) return section.status();
    if (!section->has_value()) {
      if (!may_lack) return document.wrong(name, fmt::format("is missing; {}", kOrBase));
      continue;
    }
    std::vector<std::string_view> keys;
    for (const ProfileField& field : kProfileFields)
      if (field.section == name) keys.push_back(field.key);
    TUTTI_TRY((*section)->check_keys(keys));
    for (const ProfileField& field : kProfileFields)
      if (field.section == name) TUTTI_TRY(read_field(**section, field, may_lack, profile));
  }
  return {};
}

// Before those of the base, since the first that fits is taken.
Status read_rules(const Section& document, MachineProfile& profile) {
  const Result<std::vector<Section>> sections = document.sections("rule");
  if (!sections.ok()) return sections.status();
  std::vector<Rule> rules;
  for (const Section& each : *sections) {
    Result<Rule> rule = read_rule(each);
    if (!rule.ok()) return rule.status();
    rules.push_back(std::move(*rule));
  }
  profile.rules.insert(profile.rules.begin(), rules.begin(), rules.end());
  return {};
}

// Instead of the base's of the same collective.
Status read_ranges(const Section& document, MachineProfile& profile) {
  const Result<std::vector<Section>> sections = document.sections("attach");
  if (!sections.ok()) return sections.status();
  std::vector<AttachRange> ranges;
  for (const Section& each : *sections) {
    const Result<AttachRange> range = read_attach(each);
    if (!range.ok()) return range.status();
    ranges.push_back(*range);
  }
  std::erase_if(profile.attach, [&](const AttachRange& old) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const AttachRange& range) { return range.collective == old.collective; });
  });
  profile.attach.insert(profile.attach.end(), ranges.begin(), ranges.end());
  return {};
}

std::string value_of(const ProfileField& field, const MachineProfile& profile) {
  if (const auto* const size = std::get_if<Size MachineProfile::*>(&field.member))
    return quoted(to_text(profile.*(*size)));
  if (const auto* const number = std::get_if<std::uint32_t MachineProfile::*>(&field.member))
    return fmt::format("{}", profile.*(*number));
  return fmt::format("{}", profile.*std::get<double MachineProfile::*>(field.member));
}

}  // namespace

Result<Size> parse_profile_size(std::string_view text) {
  text = trim(text);
  if (text == kUnlimited) return Size(kAnySize);
  const auto wrong = [&] {
    return Status(Code::invalid_argument, fmt::format("is {}; {}", in_quotes(text), kRightSize));
  };
  const std::size_t blank = text.find(' ');
  if (blank != std::string_view::npos)
    for (const CacheName& cache : kCacheNames)
      if (trim(text.substr(blank)) == cache.name) {
        const std::optional<double> times = times_in(text.substr(0, blank));
        if (!times || *times > 1024) return wrong();
        return Size(*times, cache.of);
      }
  const Result<Bytes> bytes = parse_bytes(text);
  if (!bytes.ok()) return wrong();
  return Size(bytes->value());
}

std::string to_text(const Size& size) {
  if (!size.is_relative())
    return size == kAnySize ? std::string(kUnlimited) : to_text(Bytes(static_cast<std::uint64_t>(size)));
  for (const CacheName& cache : kCacheNames) {
    if (cache.of != size.of()) continue;
    // As a fraction where it is one.
    for (int below = 1; below <= 64; ++below)
      for (int above = 1; above <= 64; ++above)
        if (size.times() == static_cast<double>(above) / below)
          return below == 1 ? fmt::format("{} {}", above, cache.name)
                            : fmt::format("{}/{} {}", above, below, cache.name);
    return fmt::format("{} {}", size.times(), cache.name);
  }
  return "";
}

Result<MachineProfile> read_profile(std::string_view text, std::string_view place) {
  const Result<document::TomlTable> table = document::parse_document(text, place);
  if (!table.ok()) return table.status();
  const Section section(*table, place);
  std::vector<std::string_view> keys = {"version", "name", "about", "processor", "based_on", "rule", "attach"};
  for (const std::string_view name : sections_of_fields()) keys.push_back(name);
  TUTTI_TRY(section.check_keys(keys));
  std::uint32_t version = 0;
  TUTTI_TRY(section.read("version", version, 1 << 20));
  if (version != kProfileVersion)
    return section.wrong("version", fmt::format("is {}; this version of Tutti reads {}", version, kProfileVersion));
  MachineProfile profile;
  std::string base;
  TUTTI_TRY(section.read("based_on", base));
  const bool is_based = !base.empty();
  if (is_based) {
    Result<MachineProfile> found = find_shipped_profile(base);
    if (!found.ok()) return section.wrong("based_on", found.status().message());
    profile = std::move(*found);
    profile.name.clear();
    profile.about.clear();
  }
  profile.place = place;
  profile.digest = tutti::digest(text, is_based ? profile.digest : kDigestOfNothing);
  TUTTI_TRY(section.read("name", profile.name));
  if (profile.name.empty()) return section.wrong("name", "is missing");
  TUTTI_TRY(section.read("about", profile.about));
  TUTTI_TRY(section.read("processor", profile.processor));
  TUTTI_TRY(read_rules(section, profile));
  TUTTI_TRY(read_ranges(section, profile));
  TUTTI_TRY(read_fields(section, is_based, profile));
  return profile;
}

Status overrule(const document::TomlTable& numbers, std::string_view place, MachineProfile& profile) {
  const Section section(numbers, place, "profile", numbers.entries.empty() ? 1 : numbers.entries.front().value.line);
  const std::vector<std::string_view> known = sections_of_fields();
  TUTTI_TRY(section.check_keys(known));
  return read_fields(section, true, profile);
}

const MachineProfile& shipped_profile(const ShippedProfile& shipped) {
  constexpr std::size_t kMostShipped = 64;
  // Without a lock, which a forked child might find closed.
  static std::array<std::atomic<const MachineProfile*>, kMostShipped> known{};
  const auto number = static_cast<std::size_t>(&shipped - shipped_profiles().data());
  TUTTI_ASSERT(number < std::min(kMostShipped, shipped_profiles().size()), "it is one of those that ship");
  std::atomic<const MachineProfile*>& place = known[number];
  // Acquire: partner of the exchange below.
  if (const MachineProfile* const found = place.load(std::memory_order_acquire)) return *found;
  Result<MachineProfile> profile = read_profile(shipped.text, fmt::format("{}.toml", shipped.name));
  // A test reads all profiles that ship, so there was no memory: streams, by which numbers are read, only say that they
  // have failed.
  if (!profile.ok()) throw std::bad_alloc();
  profile->place.clear();
  auto made = std::make_unique<const MachineProfile>(std::move(*profile));
  const MachineProfile* other = nullptr;
  // Another thread may have been faster.
  if (!place.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)) return *other;
  return *made.release();
}

Result<MachineProfile> find_shipped_profile(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ShippedProfile& shipped : shipped_profiles()) {
    if (same_name(shipped.name, name)) return shipped_profile(shipped);
    names.push_back(shipped.name);
  }
  return Status(Code::invalid_argument, fmt::format("no profile {} ships with Tutti{}; {} do", in_quotes(name),
                                                    nearest_hint(name, names), fmt::join(names, ", ")));
}

std::string write_profile(const MachineProfile& profile) {
  std::string text = fmt::format("version = {}\nname = {}\n", kProfileVersion, quoted(profile.name));
  if (!profile.about.empty()) text += fmt::format("about = {}\n", quoted(profile.about));
  if (!profile.processor.empty()) text += fmt::format("processor = {}\n", quoted(profile.processor));
  for (const Rule& rule : profile.rules) {
    text += fmt::format("\n[[rule]]\ncollective = \"{}\"\n", name_of(rule.collective));
    if (rule.most_ranks != kAnyRanks) text += fmt::format("most_ranks = {}\n", rule.most_ranks);
    if (rule.most_bytes.is_relative() || rule.most_bytes != kAnySize)
      text += fmt::format("most_bytes = {}\n", quoted(to_text(rule.most_bytes)));
    if (rule.most_bytes_per_rank != kAnySize)
      text += fmt::format("most_bytes_per_rank = {}\n", quoted(to_text(Size(rule.most_bytes_per_rank))));
    if (rule.symmetric) text += "memory = \"symmetric\"\n";
    if (rule.attached) text += "attached = true\n";
    if (rule.crowded) text += "crowded = true\n";
    if (rule.hosts) text += "hosts = true\n";
    text += fmt::format("algorithm = {}\n", quoted(rule.algorithm));
  }
  for (const AttachRange& range : profile.attach) {
    text +=
        fmt::format("\n[[attach]]\ncollective = \"{}\"\nleast_bytes = {}\nmost_bytes = {}\n", name_of(range.collective),
                    quoted(to_text(range.least_bytes)), quoted(to_text(range.most_bytes)));
    if (range.least_ranks != AttachRange().least_ranks) text += fmt::format("least_ranks = {}\n", range.least_ranks);
    if (range.most_ranks != kAnyRanks) text += fmt::format("most_ranks = {}\n", range.most_ranks);
    if (range.stores) text += "stores = true\n";
    if (range.crowded) text += "crowded = true\n";
  }
  std::string_view section;
  for (const ProfileField& field : kProfileFields) {
    if (field.section != section) text += fmt::format("\n[{}]\n", field.section);
    section = field.section;
    text += fmt::format("{} = {}  # {}\n", field.key, value_of(field, profile), field.about);
  }
  return text;
}

}  // namespace tutti
