// SPDX-License-Identifier: Apache-2.0
#include "report/html/page_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "report/html/page_frame.hpp"
#include "report/line_styles.hpp"

namespace tutti::report {

namespace {

using Json = nlohmann::ordered_json;

// Each command once; charts have numbers of them.
class Commands {
 public:
  Json number_of(const std::string& command) {
    if (command.empty()) return nullptr;
    const auto [found, is_new] = numbers_.try_emplace(command, all_.size());
    if (is_new) all_.push_back(command);
    return found->second;
  }
  [[nodiscard]] const Json& all() const { return all_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json all_ = Json::array();
};

Json point_of(const Point& point) {
  Json json = Json::array({point.x, point.y});
  if (point.range) {
    json.push_back(point.range->low);
    json.push_back(point.range->high);
  }
  return json;
}

Json lines_of(const LinePanel& panel, const std::vector<std::string>& names, Commands& commands) {
  Json lines = Json::array();
  for (const Line& line : panel.lines) {
    const auto name = std::find(names.begin(), names.end(), line.name);
    if (name == names.end()) continue;
    Json points = Json::array();
    for (const Point& point : line.points)
      if (is_drawn(panel, point)) points.push_back(point_of(point));
    lines.push_back({{"series", name - names.begin()},
                     {"dashed", line.is_dashed},
                     {"range", line.is_range},
                     {"command", commands.number_of(line.made_by)},
                     {"points", std::move(points)}});
  }
  return lines;
}

Json number_of(const std::optional<Style>& style) {
  for (std::size_t each = 0; style && each < kStyles.size(); ++each)
    if (kStyles.at(each).color == style->color) return each;
  return nullptr;
}

// Panels of one title, of whichever charts, are one figure.
struct Figure {
  std::string title;
  const LineChart* chart = nullptr;  // of the first panel
  bool is_first = false;             // of that chart: the remark stands once
  std::vector<const LinePanel*> panels;
  std::vector<std::string> names;                      // of lines
  std::map<std::string, std::optional<Style>> styles;  // as the first of its panels has them
};

std::vector<Figure> figures_of(const Section& section) {
  std::vector<Figure> figures;
  for (const LineChart& chart : section.lines) {
    const std::vector<StylesOfLines> styles = styles_of(chart.panels);
    for (std::size_t each = 0; each < chart.panels.size(); ++each) {
      const LinePanel& panel = chart.panels[each];
      auto figure =
          std::find_if(figures.begin(), figures.end(), [&](const Figure& other) { return other.title == panel.title; });
      if (figure == figures.end())
        figure = figures.insert(
            figures.end(),
            {.title = panel.title, .chart = &chart, .is_first = each == 0, .panels = {}, .names = {}, .styles = {}});
      figure->panels.push_back(&panel);
      for (const std::string& name : names_of(panel)) {
        if (std::find(figure->names.begin(), figure->names.end(), name) != figure->names.end()) continue;
        figure->names.push_back(name);
        figure->styles.insert({name, styles[each].at(name)});
      }
    }
  }
  // Of many lines, those with colors come first.
  for (Figure& figure : figures)
    std::stable_partition(figure.names.begin(), figure.names.end(),
                          [&](const std::string& name) { return figure.styles.at(name).has_value(); });
  return figures;
}

// What lines and bands of the figure mean, where the chart says so and they occur.
Json keys_of(const Figure& figure) {
  Json keys = Json::array();
  const auto add = [&](const char* kind, const std::string& words, auto&& is_of_kind) {
    const bool is_there = std::any_of(figure.panels.begin(), figure.panels.end(), [&](const LinePanel* panel) {
      return std::any_of(panel->lines.begin(), panel->lines.end(), is_of_kind);
    });
    if (is_there && !words.empty()) keys.push_back({{"kind", kind}, {"words", words}});
  };
  add("dashed", figure.chart->dashed, [](const Line& line) { return line.is_dashed && !line.is_range; });
  add("full", figure.chart->full, [](const Line& line) { return !line.is_dashed && !line.is_range; });
  add("range", figure.chart->ranges, [](const Line& line) { return line.is_range; });
  return keys;
}

Json json_of(const Figure& figure, Commands& commands) {
  Json series = Json::array();
  for (const std::string& name : figure.names)
    series.push_back({{"name", name}, {"style", number_of(figure.styles.at(name))}});
  Json charts = Json::array();
  for (const LinePanel* panel : figure.panels)
    charts.push_back({{"y", panel->y_name},
                      {"linear", panel->y_scale == Scale::linear},
                      {"better", panel->better == Better::lower ? "lower" : "higher"},
                      {"lines", lines_of(*panel, figure.names, commands)}});
  return {{"title", figure.title},       {"remark", figure.is_first ? figure.chart->remark : ""},
          {"keys", keys_of(figure)},     {"x", figure.chart->x_name},
          {"series", std::move(series)}, {"charts", std::move(charts)}};
}

// Those of the chart's kinds that the panel has: their names, and the colors that they have in all panels.
struct PanelKinds {
  Json names = Json::array();
  Json styles = Json::array();
  std::map<std::size_t, std::size_t> places;  // by the kind's number in the chart
};
PanelKinds kinds_of(const BarPanel& panel, const BarChart& chart) {
  PanelKinds kinds;
  for (const BarGroup& group : panel.groups)
    for (const Bar& bar : group.bars) kinds.places[bar.kind] = 0;
  for (auto& [kind, place] : kinds.places) {
    place = kinds.names.size();
    kinds.names.push_back(chart.kinds.at(kind));
    kinds.styles.push_back(kind % kStyles.size());
  }
  return kinds;
}

Json json_of(const BarPanel& panel, const BarChart& chart, bool is_first, Commands& commands) {
  PanelKinds kinds = kinds_of(panel, chart);
  Json groups = Json::array();
  for (const BarGroup& group : panel.groups) {
    Json bars = Json::array();
    for (const Bar& bar : group.bars) {
      Json one = {
          {"kind", kinds.places.at(bar.kind)}, {"value", bar.value}, {"command", commands.number_of(bar.made_by)}};
      if (bar.range) one["range"] = {bar.range->low, bar.range->high};
      bars.push_back(std::move(one));
    }
    groups.push_back({{"name", group.name}, {"bars", std::move(bars)}});
  }
  return {{"title", panel.title},        {"remark", is_first ? chart.remark : ""}, {"y", panel.y_name},
          {"stacked", panel.is_stacked}, {"kinds", std::move(kinds.names)},        {"styles", std::move(kinds.styles)},
          {"groups", std::move(groups)}};
}

Json json_of(const Cell& cell) {
  return std::visit(
      [&](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, double>) {
          return std::isfinite(value) ? Json(value) : Json();
        } else if constexpr (std::is_same_v<T, VariableCell>) {
          return text_of(cell);
        } else {
          return value;
        }
      },
      cell);
}

Json json_of(const NamedTable& named) {
  Json columns = Json::array();
  for (const Column& column : named.table.columns())
    columns.push_back({{"name", column.name}, {"digits", column.digits}, {"aside", column.is_aside}});
  Json rows = Json::array();
  for (const std::vector<Cell>& row : named.table.rows()) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(json_of(cell));
    rows.push_back(std::move(cells));
  }
  return {{"title", named.title}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

}  // namespace

std::string data_of(const Page& page, bool has_charts) {
  Commands commands;
  Json sections = Json::array();
  for (const Section& section : page.sections) {
    Json figures = Json::array();
    Json bars = Json::array();
    if (has_charts) {
      for (const Figure& figure : figures_of(section)) figures.push_back(json_of(figure, commands));
      for (const BarChart& chart : section.bars)
        for (const BarPanel& panel : chart.panels)
          bars.push_back(json_of(panel, chart, &panel == chart.panels.data(), commands));
    }
    Json tables = Json::array();
    for (const NamedTable& table : section.tables) tables.push_back(json_of(table));
    sections.push_back({{"figures", std::move(figures)}, {"bars", std::move(bars)}, {"tables", std::move(tables)}});
  }
  const Json data = {{"commands", commands.all()}, {"sections", std::move(sections)}};
  return json_in_html(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tutti::report
