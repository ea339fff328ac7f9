// SPDX-License-Identifier: Apache-2.0
#include "benches/peers/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tutti::bars {

namespace {

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

std::string must_be(const Figure& figure) {
  if (figure.least) return fmt::format(">= {:.4g}", *figure.least);
  if (figure.most) return fmt::format("<= {:.4g}", *figure.most);
  return "-";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::met: return "met";
    case Verdict::missed: return "missed";
    case Verdict::shown: break;
  }
  return "shown";
}

std::string verdict_text(const Figure& figure) {
  const Verdict verdict = verdict_of(figure);
  if (!figure.value) return verdict == Verdict::missed ? "missed: not measured" : "not measured";
  if (verdict == Verdict::missed && figure.least && figure.interval && figure.interval->high >= *figure.least)
    return "missed, within the interval";
  return std::string(name_of(verdict));
}

std::string as_table(const std::vector<Figure>& figures) {
  std::string text =
      fmt::format("{:3} {:17} {:14} {:>5} {:>9} {:>10} {:34} {:>10} {:>7} {:>15} {:>7}  {}\n", "bar", "what",
                  "collective", "ranks", "bytes", "us", "beside", "its_us", "value", "interval", "must", "verdict");
  for (const Figure& figure : figures) {
    const std::string interval =
        figure.interval ? fmt::format("{:.3g}-{:.3g}", figure.interval->low, figure.interval->high) : "-";
    text += fmt::format("{:3} {:17} {:14} {:>5} {:>9} {:>10} {:34} {:>10} {:>7} {:>15} {:>7}  {}\n", figure.bar,
                        figure.what, figure.collective, figure.num_ranks,
                        figure.bytes ? fmt::to_string(*figure.bytes) : "-", number(figure.own_us),
                        figure.rival.empty() ? "-" : figure.rival, number(figure.rival_us), number(figure.value),
                        interval, must_be(figure), verdict_text(figure));
  }
  return text;
}

nlohmann::ordered_json row_of(const Figure& figure) {
  const auto or_null = [](const auto& value) { return value ? nlohmann::ordered_json(*value) : nullptr; };
  nlohmann::ordered_json row;
  row["bar"] = figure.bar;
  row["what"] = figure.what;
  row["collective"] = figure.collective;
  row["ranks"] = figure.num_ranks;
  row["bytes"] = or_null(figure.bytes);
  row["us"] = or_null(figure.own_us);
  row["beside"] = figure.rival.empty() ? nullptr : nlohmann::ordered_json(figure.rival);
  row["its_us"] = or_null(figure.rival_us);
  row["value"] = or_null(figure.value);
  row["low"] = figure.interval ? nlohmann::ordered_json(figure.interval->low) : nullptr;
  row["high"] = figure.interval ? nlohmann::ordered_json(figure.interval->high) : nullptr;
  row["at_least"] = or_null(figure.least);
  row["at_most"] = or_null(figure.most);
  row["verdict"] = name_of(verdict_of(figure));
  return row;
}

std::string as_json(const std::vector<Figure>& figures) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Figure& figure : figures) rows.push_back(row_of(figure));
  return rows.dump(2) + "\n";
}

// No value of a row has a comma or a quote in it.
std::string as_csv(const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure& figure : figures) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    const nlohmann::ordered_json row = row_of(figure);
    for (const auto& [name, value] : row.items()) {
      names.push_back(name);
      values.push_back(value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (text.empty()) text = fmt::format("{}\n", fmt::join(names, ","));
    text += fmt::format("{}\n", fmt::join(values, ","));
  }
  return text;
}

std::string in_short(const Figure& figure) {
  const std::string bytes = figure.bytes ? fmt::format(" {} B", *figure.bytes) : "";
  const std::string value = figure.value ? number(figure.value) : "not measured";
  return fmt::format("{} {} ranks{} {} {}, must be {}", figure.collective, figure.num_ranks, bytes, figure.what, value,
                     must_be(figure));
}

}  // namespace

Show show_as(std::string_view format) {
  if (format == "table") return as_table;
  if (format == "csv") return as_csv;
  return format == "json" ? as_json : nullptr;
}

Conclusion conclude(int bar, const std::vector<Figure>& figures) {
  constexpr std::size_t kMostNamed = 6;
  std::size_t judged = 0;
  std::vector<std::string> missed;
  for (const Figure& figure : figures) {
    const Verdict verdict = verdict_of(figure);
    if (verdict != Verdict::shown) ++judged;
    if (verdict == Verdict::missed) missed.push_back(in_short(figure));
  }
  if (judged == 0) return {false, fmt::format("bar {}: missed (nothing was measured)", bar)};
  if (missed.empty()) return {true, fmt::format("bar {}: met", bar)};
  const std::size_t count = missed.size();
  const bool has_more = count > kMostNamed;
  if (has_more) missed.resize(kMostNamed);
  return {false, fmt::format("bar {}: missed ({} of {}: {}{})", bar, count, judged, fmt::join(missed, "; "),
                             has_more ? "; ..." : "")};
}

}  // namespace tutti::bars
