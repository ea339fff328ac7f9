// SPDX-License-Identifier: Apache-2.0
// The bars of Tutti's speed on one host, beside Open MPI, MPICH and Gloo: drives the program `tutti`, shows what each
// bar asks and what was measured, and ends with 1 where one is missed. `--help` says how it is called.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "benches/peers/bars.hpp"
#include "benches/peers/report.hpp"

namespace {

using tutti::bars::conclude;
using tutti::bars::Conclusion;
using tutti::bars::Figure;
using tutti::bars::kNumBars;
using tutti::bars::measure;
using tutti::bars::other_collectives;
using tutti::bars::Program;
using tutti::bars::show_as;
using tutti::bars::title_of;
using tutti::bars::Wanted;

constexpr int kMissed = 1;
constexpr int kMisused = 2;

struct Options {
  std::vector<int> bars;
  std::vector<std::string> collectives = other_collectives();
  std::string tutti = TUTTI_PROGRAM;
  std::string format = "table";
  std::string output;
  bool quick = false;
};

std::string titles() {
  std::string text = "Bars:\n";
  for (int bar = 1; bar <= kNumBars; ++bar) text += fmt::format("  {}  {}\n", bar, title_of(bar));
  return text +
         "\nExit status: 0 all are met, 1 one is missed, 2 misused.\n"
         "Examples:\n  peers\n  peers 1 5 --quick\n  peers 4 --collective all_gather,barrier --format json -o "
         "four.json\n";
}

void declare(CLI::App& app, Options& options) {
  app.add_option("bars", options.bars, "Which; all of them without any")
      ->type_name("BAR")
      ->check(CLI::Range(1, kNumBars));
  app.add_option("--collective", options.collectives, "Of bar 4, which: names with commas between [all]")
      ->type_name("NAMES")
      ->delimiter(',')
      ->check(CLI::IsMember(other_collectives()));
  app.add_flag("--quick", options.quick, "Fewer sizes, and less time for each: a look, not a verdict");
  app.add_option("--tutti", options.tutti, "Another program tutti than the one beside which this was built")
      ->type_name("PROGRAM")
      ->check(CLI::ExistingFile);
  app.add_option("--format", options.format, "Of the figures: table, csv or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "Write them to this file instead of standard output")
      ->type_name("FILE");
  app.footer(titles());
}

// In ascending order, each once; all where none is named.
std::set<int> chosen(const std::vector<int>& named) {
  std::set<int> bars(named.begin(), named.end());
  for (int bar = 1; named.empty() && bar <= kNumBars; ++bar) bars.insert(bar);
  return bars;
}

int run(const Options& options) {
  std::ofstream file;
  if (!options.output.empty()) {
    file.open(options.output);
    if (!file) {
      fmt::print(stderr, "peers: {} cannot be written\n", options.output);
      return kMisused;
    }
  }
  const Program program(options.tutti, options.quick);
  const std::optional<std::vector<std::string>> peers = program.peers_here();
  if (!peers) {
    fmt::print(stderr, "peers: {} lists no peers; it is to be a program tutti with its workers\n", options.tutti);
    return kMisused;
  }
  const Wanted wanted{*peers, options.collectives, options.quick};
  std::ostream& to = options.output.empty() ? std::cout : file;
  const bool is_table = options.format == "table";
  std::vector<Figure> figures;
  std::vector<Conclusion> conclusions;
  for (const int bar : chosen(options.bars)) {
    if (wanted.peers.empty() && bar != kNumBars) {
      fmt::print(stderr, "peers: bar {} has nobody to be measured beside: no Open MPI, MPICH or Gloo is here\n", bar);
      continue;
    }
    const std::vector<Figure> own = measure(bar, program, wanted);
    conclusions.push_back(conclude(bar, own));
    if (is_table) to << show_as("table")(own) << std::endl;  // it takes a while until all are there
    figures.insert(figures.end(), own.begin(), own.end());
  }
  if (!is_table) to << show_as(options.format)(figures) << std::flush;
  // What reads data from standard output is not to find words there.
  FILE* words = is_table || !options.output.empty() ? stdout : stderr;
  for (const Conclusion& conclusion : conclusions) fmt::print(words, "{}\n", conclusion.text);
  const bool all_met = std::all_of(conclusions.begin(), conclusions.end(),
                                   [](const Conclusion& conclusion) { return conclusion.is_met; });
  return all_met ? 0 : kMissed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Whether Tutti is as much faster than Open MPI, MPICH and Gloo on this machine as it must be", "peers");
  Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kMisused;
  }
  return run(options);
}
