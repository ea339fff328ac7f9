// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/references.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml/document.hpp"
#include "base/units.hpp"

namespace tutti::simulate {

namespace {

using document::Section;
using document::TomlArray;
using document::TomlTable;
using document::TomlValue;

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMostParts = 64;
constexpr std::uint32_t kMostCopies = 16;
constexpr std::uint32_t kMostSide = 1U << 16;
constexpr std::uint32_t kMostCorner = 4;

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};
constexpr auto kUnits = std::to_array<TimeUnit>({{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}});
constexpr auto kMetricNames = std::to_array<std::string_view>({"time", "gain", "crossover"});

constexpr auto kKindNames = std::to_array<std::string_view>({"reference", "measured", "theory"});

constexpr auto kKeys =
    std::to_array<std::string_view>({"version", "id", "about", "source", "date", "unit", "collective", "type",
                                     "left_out", "deviations", "beyond_ranks", "series", "fits"});
constexpr auto kSeriesKeys = std::to_array<std::string_view>(
    {"id", "group", "configuration", "kind", "metric", "bytes", "values", "uncertainty", "bar", "ways", "baselines"});
constexpr auto kWayKeys = std::to_array<std::string_view>(
    {"fabric", "algorithm", "grid", "corner", "parts", "copies", "part_copies", "by_name"});
constexpr auto kParameterKeys = std::to_array<std::string_view>({"name", "start", "value", "assumed"});
constexpr auto kFitKeys = std::to_array<std::string_view>({"name", "fabrics", "series", "parameters"});

Status read_needed(const Section& section, std::string_view key, std::string& value) {
  if (!section.has(key)) return section.wrong("", fmt::format("it has no {}", key));
  return section.read(key, value);
}

// Whole numbers, or a list as everywhere: "512K:64M:x2".
Status read_sizes(const Section& section, std::string_view key, std::vector<std::uint64_t>& sizes) {
  const TomlValue* given = section.find(key);
  if (given == nullptr) return {};
  if (const auto* text = std::get_if<std::string>(&given->value)) {
    const Result<std::vector<Bytes>> list = parse_byte_list(*text, 1024);
    if (!list.ok()) return section.wrong(key, list.status().message());
    for (const Bytes size : *list) sizes.push_back(size.value());
    return {};
  }
  const auto* array = std::get_if<TomlArray>(&given->value);
  if (array == nullptr) return section.wrong(key, "write sizes such as \"1M,4M\" or [1048576, 4194304]");
  for (const TomlValue& each : *array) {
    const auto* number = std::get_if<std::int64_t>(&each.value);
    if (number == nullptr || *number < 0) return section.wrong(key, "its sizes are whole numbers of bytes");
    sizes.push_back(static_cast<std::uint64_t>(*number));
  }
  return {};
}

Status read_values(const Section& section, std::vector<double>& values) {
  const TomlValue* given = section.find("values");
  const auto* array = given == nullptr ? nullptr : std::get_if<TomlArray>(&given->value);
  if (array == nullptr) return section.wrong("values", "write the figures, such as [0.007, 0.009]");
  for (const TomlValue& each : *array) {
    const auto* whole = std::get_if<std::int64_t>(&each.value);
    const auto* real = std::get_if<double>(&each.value);
    if (whole == nullptr && (real == nullptr || !std::isfinite(*real)))
      return section.wrong("values", "its figures are numbers");
    values.push_back(whole != nullptr ? static_cast<double>(*whole) : *real);
  }
  return {};
}

Status read_texts(const Section& section, std::string_view key, std::vector<std::string>& texts) {
  const TomlValue* given = section.find(key);
  if (given == nullptr) return {};
  const auto* array = std::get_if<TomlArray>(&given->value);
  if (array == nullptr) return section.wrong(key, "write texts, such as [\"h100-2\"]");
  for (const TomlValue& each : *array) {
    const auto* text = std::get_if<std::string>(&each.value);
    if (text == nullptr) return section.wrong(key, "its parts are texts");
    texts.push_back(*text);
  }
  return {};
}

Status read_grid(const Section& section, std::optional<Grid>& grid) {
  if (!section.has("grid")) return {};
  std::string text;
  TUTTI_TRY(section.read("grid", text));
  const std::vector<std::string_view> sides = split(text, 'x');
  std::array<std::uint32_t, 3> lengths = {1, 1, 1};
  bool is_right = sides.size() == 2 || sides.size() == lengths.size();
  for (std::size_t side = 0; is_right && side < sides.size(); ++side) {
    const Result<std::int64_t> length = parse_integer(sides[side]);
    is_right = length.ok() && *length >= 1 && *length <= kMostSide;
    if (is_right) lengths[side] = static_cast<std::uint32_t>(*length);
  }
  if (!is_right) return section.wrong("grid", fmt::format("{} is no grid, like \"4x2\"", in_quotes(text)));
  grid = Grid{lengths[0], lengths[1], lengths[2]};
  return {};
}

Status read_ways(const Section& series, std::string_view key, std::vector<ReferenceWay>& ways) {
  TUTTI_TRY_ASSIGN(const std::vector<Section> sections, series.sections(key));
  for (const Section& section : sections) {
    TUTTI_TRY(section.check_keys(kWayKeys));
    ReferenceWay& way = ways.emplace_back();
    TUTTI_TRY(read_needed(section, "fabric", way.fabric));
    TUTTI_TRY(read_needed(section, "algorithm", way.algorithm));
    TUTTI_TRY(read_grid(section, way.grid));
    if (section.has("corner")) TUTTI_TRY(section.read("corner", way.corner.emplace(), kMostCorner));
    TUTTI_TRY(section.read("parts", way.parts, kMostParts));
    if (way.parts == 0) return section.wrong("parts", "0 is too few; 1 is the least");
    TUTTI_TRY(section.read("copies", way.copies.whole, kMostCopies));
    TUTTI_TRY(section.read("part_copies", way.copies.parts, kMostCopies));
    TUTTI_TRY(section.read("by_name", way.by_name));
  }
  return {};
}

Status read_series(const Section& section, Series& series) {
  TUTTI_TRY(section.check_keys(kSeriesKeys));
  TUTTI_TRY(read_needed(section, "id", series.id));
  TUTTI_TRY(section.read("group", series.group));
  TUTTI_TRY(section.read("configuration", series.configuration));
  std::string metric = "time";
  TUTTI_TRY(section.read("metric", metric));
  const auto* const found = std::find(kMetricNames.begin(), kMetricNames.end(), metric);
  if (found == kMetricNames.end())
    return section.wrong("metric", fmt::format("{} is not time, gain or crossover", in_quotes(metric)));
  series.metric = static_cast<Metric>(found - kMetricNames.begin());
  std::string kind = "reference";
  TUTTI_TRY(section.read("kind", kind));
  const auto* const of_kind = std::find(kKindNames.begin(), kKindNames.end(), kind);
  if (of_kind == kKindNames.end())
    return section.wrong("kind", fmt::format("{} is not reference, measured or theory", in_quotes(kind)));
  series.kind = static_cast<FigureKind>(of_kind - kKindNames.begin());
  TUTTI_TRY(read_sizes(section, "bytes", series.bytes));
  TUTTI_TRY(read_values(section, series.values));
  const std::size_t wanted = series.metric == Metric::crossover ? 1 : series.bytes.size();
  if (series.bytes.empty() || series.values.size() != wanted)
    return section.wrong("values", fmt::format("there are {}, for {} sizes", series.values.size(), wanted));
  std::vector<std::uint64_t> sizes = series.bytes;
  std::sort(sizes.begin(), sizes.end());
  if (sizes.front() == 0) return section.wrong("bytes", "0 bytes are no size");
  if (const auto twice = std::adjacent_find(sizes.begin(), sizes.end()); twice != sizes.end())
    return section.wrong("bytes", fmt::format("{} is there twice", *twice));
  if (series.metric != Metric::gain)
    for (const double value : series.values)
      if (!(value > 0)) return section.wrong("values", fmt::format("{} is no {}", value, metric));
  TUTTI_TRY(section.read("uncertainty", series.uncertainty));
  if (!(series.uncertainty >= 0) || !std::isfinite(series.uncertainty))
    return section.wrong("uncertainty", fmt::format("{} is none; 0 or more is", series.uncertainty));
  TUTTI_TRY(section.read("bar", series.bar));
  if (section.has("bar") && !(series.bar >= 0 && std::isfinite(series.bar)))
    return section.wrong("bar", fmt::format("{} is none; 0 or more is", series.bar));
  TUTTI_TRY(read_ways(section, "ways", series.ways));
  TUTTI_TRY(read_ways(section, "baselines", series.baselines));
  if (!series.ways.empty() && series.baselines.empty() != (series.metric == Metric::time))
    return section.wrong("baselines", "a gain and a crossover have some, and a time has none");
  return {};
}

Status read_fit(const Section& section, Fit& fit) {
  TUTTI_TRY(section.check_keys(kFitKeys));
  TUTTI_TRY(read_needed(section, "name", fit.name));
  TUTTI_TRY(read_texts(section, "fabrics", fit.fabrics));
  if (fit.fabrics.empty()) return section.wrong("fabrics", "there are none; write fabrics = [\"h100_node\"]");
  TUTTI_TRY(read_texts(section, "series", fit.series));
  TUTTI_TRY_ASSIGN(const std::vector<Section> parameters, section.sections("parameters"));
  for (const Section& parameter : parameters) {
    TUTTI_TRY(parameter.check_keys(kParameterKeys));
    FitParameter& read = fit.parameters.emplace_back();
    TUTTI_TRY(read_needed(parameter, "name", read.name));
    TUTTI_TRY(read_needed(parameter, "start", read.start));
    TUTTI_TRY(read_needed(parameter, "value", read.value));
    TUTTI_TRY(parameter.read("assumed", read.assumed));
  }
  return {};
}

Status read_head(const Section& document, References& references) {
  TUTTI_TRY(document.check_keys(kKeys));
  std::uint32_t version = 0;
  TUTTI_TRY(document.read("version", version, UINT32_MAX));
  if (version != kVersion) return document.wrong("version", fmt::format("this is {}; {} is known", version, kVersion));
  TUTTI_TRY(read_needed(document, "id", references.id));
  TUTTI_TRY(document.read("about", references.about));
  TUTTI_TRY(read_needed(document, "source", references.source));
  TUTTI_TRY(read_needed(document, "date", references.date));
  references.unit = "us";
  TUTTI_TRY(document.read("unit", references.unit));
  const auto* const unit =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const TimeUnit& each) { return each.name == references.unit; });
  if (unit == kUnits.end())
    return document.wrong("unit", fmt::format("{} is not ns, us, ms or s", in_quotes(references.unit)));
  references.nanoseconds = unit->nanoseconds;
  std::string word = "all_reduce";
  TUTTI_TRY(document.read("collective", word));
  const std::optional<Collective> collective = find_collective(word);
  if (!collective) return document.wrong("collective", fmt::format("there is no {}", in_quotes(word)));
  references.collective = *collective;
  word = "f32";
  TUTTI_TRY(document.read("type", word));
  const std::optional<Type> type = type_from_name(word);
  if (!type)
    return document.wrong("type",
                          fmt::format("{} is not a type; the types are: {}", in_quotes(word), all_type_names()));
  references.type = *type;
  TUTTI_TRY(document.read("deviations", references.deviations));
  TUTTI_TRY(document.read("beyond_ranks", references.beyond_ranks));
  if (!(references.beyond_ranks >= 0 && references.beyond_ranks <= 1))
    return document.wrong("beyond_ranks", fmt::format("{} is no share; 0 to 1 is", references.beyond_ranks));
  return read_sizes(document, "left_out", references.left_out);
}

}  // namespace

std::string_view name_of(Metric metric) { return kMetricNames[static_cast<std::size_t>(metric)]; }

bool is_of(std::string_view fabric, std::string_view name) {
  return same_name(fabric.substr(0, fabric.find_first_of(":,")), name);
}

const std::string* find_fabric(const Fit& fit, std::string_view fabric) {
  const auto found = std::find_if(fit.fabrics.begin(), fit.fabrics.end(),
                                  [&](const std::string& name) { return is_of(fabric, name); });
  return found == fit.fabrics.end() ? nullptr : &*found;
}

bool is_about(const Fit& fit, const Series& series) {
  return !series.ways.empty() && find_fabric(fit, series.ways.front().fabric) != nullptr;
}

Result<References> read_references(std::string_view text, std::string_view file) {
  TUTTI_TRY_ASSIGN(const document::TomlTable table, document::parse_document(text, file));
  const document::Section document(table, file);
  References references;
  TUTTI_TRY(read_head(document, references));
  TUTTI_TRY_ASSIGN(const std::vector<Section> series, document.sections("series"));
  for (const Section& section : series) TUTTI_TRY(read_series(section, references.series.emplace_back()));
  if (references.series.empty()) return document.wrong("series", "there are none; write [[series]]");
  TUTTI_TRY_ASSIGN(const std::vector<Section> fits, document.sections("fits"));
  for (const Section& section : fits) TUTTI_TRY(read_fit(section, references.fits.emplace_back()));
  return references;
}

}  // namespace tutti::simulate
