// SPDX-License-Identifier: Apache-2.0
#include "report/html/page.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "report/html/assets.hpp"
#include "report/html/page_data.hpp"
#include "report/html/page_frame.hpp"
#include "report/svg.hpp"

namespace tutti::report {

namespace {

std::string html_of(const NamedTable& named) {
  const std::vector<Column>& columns = named.table.columns();
  const auto class_of = [&](std::size_t column) -> std::string_view {
    constexpr std::size_t kShort = 28;
    constexpr std::size_t kWide = 80;
    std::size_t longest = 0;
    bool is_number = true;
    for (const std::vector<Cell>& row : named.table.rows()) {
      const auto* text = std::get_if<std::string>(&row[column]);
      is_number = is_number && text == nullptr;
      longest = std::max(longest, text == nullptr ? std::size_t{0} : text->size());
    }
    if (is_number) return " class=\"number\"";
    return longest < kShort ? " class=\"short\"" : longest <= kWide ? " class=\"words\"" : " class=\"wide\"";
  };
  std::string html = fmt::format(
      "<div class=\"scrolls\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n"
      "<table class=\"summary\"><caption><span>{0}</span></caption>\n<thead><tr>",
      in_html(named.title));
  for (std::size_t each = 0; each < columns.size(); ++each)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(each), in_html(columns[each].name));
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : named.table.rows()) {
    html += "<tr>";
    for (std::size_t each = 0; each < row.size(); ++each)
      html += fmt::format("<td{}>{}</td>", class_of(each), in_html(text_of(row[each], columns[each].digits, "–")));
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (!named.remark.empty()) html += fmt::format("<p class=\"remark\">{}</p>\n", in_html(named.remark));
  return html;
}

std::string pictures_of(const Section& section) {
  std::string html;
  for (const LineChart& chart : section.lines)
    if (!chart.panels.empty()) html += fmt::format("<div class=\"scrolls picture\">{}</div>\n", to_svg(chart));
  for (const BarChart& chart : section.bars)
    if (!chart.panels.empty()) html += fmt::format("<div class=\"scrolls picture\">{}</div>\n", to_svg(chart));
  return html;
}

// What is known before any script runs. Charts and long tables come to the last two elements.
std::string html_of(const Section& section, std::size_t number, bool has_charts) {
  std::string html = fmt::format("<section id=\"s{0}\" aria-labelledby=\"h{0}\">\n<h2 id=\"h{0}\">{1}</h2>\n", number,
                                 in_html(section.title));
  for (std::size_t each = 0; each < section.answer.size(); ++each)
    html += fmt::format("<p class=\"{}\">{}</p>\n", each == 0 ? "answer" : "more", in_html(section.answer[each]));
  if (!section.cautions.empty()) {
    html += "<ul class=\"cautions\">\n";
    for (const Caution& each : section.cautions)
      html += fmt::format("<li{}>{}</li>\n", each.is_bad ? " class=\"bad\"" : "", in_html(each.words));
    html += "</ul>\n";
  }
  for (const NamedTable& each : section.summaries) html += html_of(each);
  html +=
      fmt::format("<div class=\"figures\" id=\"figures{}\">{}</div>\n", number, has_charts ? "" : pictures_of(section));
  for (const NamedPicture& each : section.pictures)
    html +=
        fmt::format("<figure class=\"scrolls picture\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</figure>\n",
                    in_html(each.title), each.svg);
  // Charts and pictures have theirs with them.
  for (const LineChart& chart : section.lines)
    if (!chart.remark.empty() && chart.panels.empty())
      html += fmt::format("<p class=\"remark\">{}</p>\n", in_html(chart.remark));
  if (!section.facts.empty()) {
    html += "<details class=\"facts\" open><summary>Where it was measured, and how</summary>\n<dl>\n";
    for (const Fact& fact : section.facts)
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", in_html(fact.name), in_html(fact.value));
    html += "</dl></details>\n";
  }
  html += fmt::format("<div class=\"tables\" id=\"tables{}\"></div>\n", number);
  for (const NamedTable& each : section.tables)
    if (!each.remark.empty()) html += fmt::format("<p class=\"remark\">{}</p>\n", in_html(each.remark));
  return html + "</section>\n";
}

std::string contents_of(const Page& page) {
  if (page.sections.size() < 2) return "";
  std::string html = "<nav aria-label=\"Contents\"><ul>\n";
  for (std::size_t each = 0; each < page.sections.size(); ++each)
    html += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", each, in_html(page.sections[each].title));
  return html + "</ul></nav>";
}

std::string footer_of(const Page& page, bool has_charts) {
  const std::string by = in_html(page.made_by);
  return has_charts ? fmt::format("Made by {}. Charts by Chart.js, which is under the MIT License.", by)
                    : fmt::format(
                          "Made by {}. Its build has no Chart.js (on Debian: libjs-chart.js), so charts are "
                          "pictures without zoom.",
                          by);
}

std::string html_of(const Page& page, bool has_charts, const Served* served) {
  std::string sections;
  for (std::size_t each = 0; each < page.sections.size(); ++each)
    sections += html_of(page.sections[each], each, has_charts);
  return whole_page({.title = page.title,
                     .where = page.where,
                     .contents = contents_of(page),
                     .sections = std::move(sections),
                     .footer = footer_of(page, has_charts),
                     .data = data_of(page, has_charts),
                     .has_charts = has_charts},
                    served);
}

}  // namespace

bool has_live_charts() { return !chart_script().text.empty(); }
std::string to_html(const Page& page) { return html_of(page, has_live_charts(), nullptr); }
std::string to_html(const Page& page, const Served& served) { return html_of(page, has_live_charts(), &served); }
std::string to_html_with_pictures(const Page& page) { return html_of(page, false, nullptr); }

}  // namespace tutti::report
