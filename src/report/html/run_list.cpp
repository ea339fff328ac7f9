// SPDX-License-Identifier: Apache-2.0
#include "report/html/run_list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/html/page_frame.hpp"

namespace tutti::report {

namespace {

bool has_one_machine(const std::vector<ListedRun>& runs) {
  return std::all_of(runs.begin(), runs.end(), [&](const ListedRun& each) { return each.machine == runs[0].machine; });
}

std::string row_of(const ListedRun& run, bool has_machine) {
  const std::string label = run.name.empty() ? run.number : fmt::format("{} ({})", run.name, run.number);
  std::string html = fmt::format(
      "<tr><td><input type=\"checkbox\" class=\"choice\" id=\"c{0}\" value=\"{0}\" aria-label=\"Choose run {1}\"></td>"
      "<td class=\"short\"><a href=\"{2}\">{1}</a></td>",
      in_html(run.number), in_html(label), in_html(run.address));
  html += fmt::format("<td class=\"short\">{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{}</td>",
                      in_html(run.begun), in_html(run.bench), in_html(run.peers), in_html(run.rows),
                      in_html(run.state.empty() ? "complete" : run.state));
  if (has_machine) html += fmt::format("<td>{}</td>", in_html(run.machine));
  return html + fmt::format("<td>{}</td></tr>\n", in_html(run.note));
}

std::string table_of(const RunList& list) {
  const bool has_machine = !has_one_machine(list.runs);
  std::string html = fmt::format(
      "<div class=\"controls\"><a class=\"button\" id=\"compare\" data-address=\"{}\" role=\"link\" "
      "aria-disabled=\"true\" aria-describedby=\"chosen\">Compare</a>"
      "<span class=\"muted\" id=\"chosen\" role=\"status\">Choose two runs to compare.</span></div>\n",
      in_html(list.compare));
  html +=
      "<div class=\"scrolls\" tabindex=\"0\" role=\"region\" aria-label=\"Runs\">\n"
      "<table class=\"runs\"><thead><tr><th scope=\"col\"><span class=\"aside\">Choose</span></th>";
  for (const char* name : {"run", "begun", "bench", "peers"}) html += fmt::format("<th scope=\"col\">{}</th>", name);
  html += "<th scope=\"col\" class=\"number\">rows</th><th scope=\"col\">state</th>";
  if (has_machine) html += "<th scope=\"col\">machine</th>";
  html += "<th scope=\"col\">note</th></tr></thead>\n<tbody>\n";
  for (const ListedRun& run : list.runs) html += row_of(run, has_machine);
  html += "</tbody></table></div>\n";
  if (!has_machine) html += fmt::format("<p class=\"remark\">All on {}.</p>\n", in_html(list.runs[0].machine));
  return html;
}

std::string section_of(const ListedFolder& folder, std::size_t number) {
  std::string html =
      fmt::format("<section aria-labelledby=\"f{0}\">\n<h2 id=\"f{0}\">{1}</h2>\n", number, in_html(folder.name));
  if (!folder.files.empty()) {
    html += "<ul class=\"files\">\n";
    for (const ListedFile& file : folder.files)
      html += fmt::format("<li><a href=\"{}\">{}</a> <span class=\"muted\">{}</span></li>\n", in_html(file.address),
                          in_html(file.name), in_html(file.size));
    html += "</ul>\n";
  }
  if (!folder.remark.empty()) html += fmt::format("<p class=\"remark\">{}</p>\n", in_html(folder.remark));
  return html + "</section>\n";
}

}  // namespace

std::string to_html(const RunList& list, const Served& served) {
  std::string sections = "<section aria-labelledby=\"runs\">\n<h2 id=\"runs\">Runs</h2>\n";
  if (!list.trouble.empty())
    sections += fmt::format("<ul class=\"cautions\"><li class=\"bad\">{}</li></ul>\n", in_html(list.trouble));
  if (!list.runs.empty()) sections += table_of(list);
  if (!list.remark.empty()) sections += fmt::format("<p class=\"remark\">{}</p>\n", in_html(list.remark));
  sections += "</section>\n";
  for (std::size_t each = 0; each < list.folders.size(); ++each) sections += section_of(list.folders[each], each);
  return whole_page({.title = "Tutti: kept runs",
                     .where = list.where,
                     .contents = {},
                     .sections = std::move(sections),
                     .footer = fmt::format("Served by {}; nothing can be changed here.", in_html(list.made_by)),
                     .data = R"({"commands":[],"sections":[]})",
                     .has_charts = false},
                    &served);
}

}  // namespace tutti::report
