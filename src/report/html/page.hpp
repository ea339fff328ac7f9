// SPDX-License-Identifier: Apache-2.0
// A report as one HTML file that needs nothing else: answers in words, charts to zoom into, tables to sort and filter.
// Scripts and styles are part of the file; its policy forbids every request and every script that is not Tutti's own.
// Names, notes and values may hold anything. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/views/table.hpp"
#include "report/chart.hpp"

namespace tutti::report {

struct Fact {
  std::string name;
  std::string value;
};
struct NamedTable {
  std::string title;
  Table table;
  std::string remark = {};  // below it
};
// What the reader must know before believing the figures.
struct Caution {
  std::string words;
  bool is_bad = false;  // results are wrong or missing
};

// What no chart of the page draws, such as a fabric: a whole SVG.
struct NamedPicture {
  std::string title;
  std::string svg;
};

struct Section {
  std::string title;
  std::vector<std::string> answer;  // sentences; the first stands out
  std::vector<Caution> cautions;
  std::vector<NamedTable> summaries;  // short tables below the answer
  std::vector<Fact> facts;
  // Panels of the same title stand beside each other, with one legend.
  std::vector<LineChart> lines;
  std::vector<BarChart> bars;
  std::vector<NamedTable> tables;           // long ones, to sort and filter
  std::vector<NamedPicture> pictures = {};  // below the charts
};

struct Page {
  std::string title;
  std::string where;    // the machine and the day
  std::string made_by;  // "Tutti 0.1.0"
  std::vector<Section> sections;
};

// What a page has besides when `tutti web` serves it: a way home, and what it listens to so that it shows new rows. Its
// policy allows requests to whoever served it, for that.
struct Served {
  std::string home;    // the address of the list of runs
  std::string events;  // the address of its events
  std::string mark;    // of what it shows; an event with another one is news
};

// Charts are drawn by Chart.js. A build without it draws them as pictures, and the page says so.
[[nodiscard]] std::string to_html(const Page& page);
[[nodiscard]] std::string to_html(const Page& page, const Served& served);
[[nodiscard]] bool has_live_charts();
// The same with pictures instead, in any build.
[[nodiscard]] std::string to_html_with_pictures(const Page& page);

// What a page allows itself: nothing is loaded from anywhere, and nothing runs but its own scripts. A page that is
// served may also ask whoever serves it.
[[nodiscard]] std::string policy_of_pages();
[[nodiscard]] std::string policy_of_served_pages();

}  // namespace tutti::report
