// `tutti prove`: proves algorithms for the numbers of ranks asked for; one line an algorithm, and the story of the
// first thing that is wrong.
#include "schedule/prove.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/table.hpp"
#include "schedule/cost.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostRanks = 1024;

struct Options {
  bool all = false;
  std::string algorithm;   // empty: all
  std::string collective;  // empty: all
  std::string ranks = "1-33";
  OutputOptions output;
};

struct RankRange {
  std::uint32_t first = 1;
  std::uint32_t last = 1;
};

std::optional<std::uint32_t> read_ranks(std::string_view text) {
  std::uint32_t ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc() || end != text.data() + text.size() || ranks == 0 || ranks > kMostRanks) return std::nullopt;
  return ranks;
}

Result<std::vector<RankRange>> parse_ranks(std::string_view text) {
  std::vector<RankRange> ranges;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t hyphen = part.find('-');
    const auto first = read_ranks(trim(part.substr(0, hyphen)));
    const auto last = hyphen == std::string_view::npos ? first : read_ranks(trim(part.substr(hyphen + 1)));
    if (!first || !last || *last < *first) {
      return Status(Code::invalid_argument,
                    fmt::format("--ranks: {} is not a number or a range of ranks from 1 to {}, like 2,3,5-9",
                                in_quotes(part), kMostRanks));
    }
    ranges.push_back({*first, *last});
  }
  return ranges;
}

// What is proven of one algorithm for all the numbers of ranks together.
struct Summary {
  std::optional<std::string> failure;  // with the number of ranks in front
  OrderClass order = OrderClass::ordered;
  bool has_messages = false;
  std::uint32_t depth = 0;
  std::uint32_t depth_fused = 0;
  std::uint32_t slots = 0;
  Exposure out_of_place = Exposure::none;
  Exposure in_place = Exposure::none;
  std::uint32_t most_ranks = 0;
  Cost cost;  // for the most ranks
};

// Copy-only for one number of ranks is copy-only; name-safe needs all of them.
Exposure both(Exposure a, Exposure b) {
  if (a == Exposure::copy_only || b == Exposure::copy_only) return Exposure::copy_only;
  return a == Exposure::none ? b : a;
}

Summary prove_all(const Algorithm& algorithm, const std::vector<RankRange>& ranges) {
  Summary summary;
  for (const RankRange& range : ranges) {
    for (std::uint32_t ranks = range.first; ranks <= range.last; ++ranks) {
      const Schedule schedule = algorithm.make({.collective = algorithm.collective, .num_ranks = ranks, .root = 0});
      const Proof proof = prove(schedule);
      if (!proof.ok()) {
        summary.failure = fmt::format("{} {} of {} ranks: {}", algorithm.name, name_of(algorithm.collective), ranks,
                                      proof.failure->to_string());
        return summary;
      }
      summary.order = std::max(summary.order, proof.order);
      summary.has_messages = summary.has_messages || proof.has_messages;
      summary.depth = std::max(summary.depth, proof.least_depth);
      summary.depth_fused = std::max(summary.depth_fused, proof.least_depth_fused);
      summary.slots = std::max(summary.slots, proof.least_slots);
      summary.out_of_place = both(summary.out_of_place, proof.out_of_place.exposure);
      summary.in_place = both(summary.in_place, proof.in_place.exposure);
      if (ranks < summary.most_ranks) continue;
      summary.most_ranks = ranks;
      summary.cost = cost_of(schedule);
    }
  }
  return summary;
}

Cell exposure_cell(Exposure exposure) {
  return exposure == Exposure::none ? Cell() : Cell(std::string(name_of(exposure)));
}

Cell number_cell(std::uint64_t number) { return static_cast<std::int64_t>(number); }

std::vector<Cell> cells_of(const Algorithm& algorithm, const std::string& ranks, const Summary& summary) {
  std::vector<Cell> cells = {std::string(name_of(algorithm.collective)), std::string(algorithm.name), ranks,
                             std::string(summary.failure ? "wrong" : "proven")};
  if (summary.failure) {
    cells.resize(13);
    return cells;
  }
  const Cost& cost = summary.cost;
  const auto blocks = [&](std::uint64_t pieces) {
    return std::round(static_cast<double>(pieces) / cost.num_pieces * 1e4) / 1e4;
  };
  cells.emplace_back(std::string(name_of(summary.order)));
  cells.push_back(summary.has_messages ? number_cell(summary.depth) : Cell());
  cells.push_back(summary.has_messages ? number_cell(summary.depth_fused) : Cell());
  cells.push_back(summary.slots == 0 ? Cell() : number_cell(summary.slots));
  cells.push_back(exposure_cell(summary.out_of_place));
  cells.push_back(exposure_cell(summary.in_place));
  cells.push_back(number_cell(cost.most.steps));
  cells.emplace_back(blocks(cost.most.pieces_out()));
  cells.emplace_back(blocks(cost.most.pieces_in()));
  return cells;
}

// The rows asked for; empty, with an error said, where the names mean nothing.
std::vector<const Algorithm*> chosen(const Options& options, const Context& context) {
  std::vector<const Algorithm*> rows;
  std::string known;
  for (const Algorithm* algorithm : all_algorithms()) {
    known += fmt::format("{}{} {}", known.empty() ? "" : ", ", name_of(algorithm->collective), algorithm->name);
    if (!options.algorithm.empty() && !same_name(options.algorithm, algorithm->name)) continue;
    if (!options.collective.empty() && !same_name(options.collective, name_of(algorithm->collective))) continue;
    rows.push_back(algorithm);
  }
  if (rows.empty()) {
    context.error << fmt::format("tutti prove: there is no algorithm {} for {}; there are: {}\n",
                                 options.algorithm.empty() ? "at all" : in_quotes(options.algorithm),
                                 options.collective.empty() ? "any collective" : in_quotes(options.collective), known);
  }
  return rows;
}

Exit run(const Options& options, const Context& context) {
  if (options.all && (!options.algorithm.empty() || !options.collective.empty())) {
    context.error << "tutti prove: --all is every algorithm; it does not go with --algorithm or --collective\n";
    return Exit::misused;
  }
  const Result<std::vector<RankRange>> ranges = parse_ranks(options.ranks);
  if (!ranges.ok()) {
    context.error << "tutti prove: " << ranges.status().to_string() << "\n";
    return Exit::misused;
  }
  const std::vector<const Algorithm*> rows = chosen(options, context);
  if (rows.empty()) return Exit::misused;
  // Steps and blocks are of the rank that has most, for the most ranks; blocks are sizes of the buffer.
  Table table({{"collective"},
               {"algorithm"},
               {"ranks"},
               {"verdict"},
               {"order"},
               {"depth"},
               {"depth_fused"},
               {"slots"},
               {"out_of_place"},
               {"in_place"},
               {"steps"},
               {"blocks_out"},
               {"blocks_in"}});
  const auto begin = std::chrono::steady_clock::now();
  bool wrong = false;
  for (const Algorithm* algorithm : rows) {
    const Summary summary = prove_all(*algorithm, *ranges);
    table.add_row(cells_of(*algorithm, options.ranks, summary));
    if (!summary.failure) continue;
    wrong = true;
    context.error << *summary.failure << "\n";
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const Status written = write_output(render(table, options.output.format), options.output, context);
  if (!written.ok()) {
    context.error << "tutti prove: " << written.to_string() << "\n";
    return Exit::misused;
  }
  context.error << fmt::format("{} algorithm{} in {:.2f} s\n", rows.size(), rows.size() == 1 ? "" : "s", taken.count());
  return wrong ? Exit::found_wrong : Exit::done;
}

Run define(CLI::App& app) {
  const auto options = std::make_shared<Options>();  // shared with the closure, which std::function copies
  app.add_flag("--all", options->all, "Every algorithm of every collective (as without any choice)");
  app.add_option("--algorithm", options->algorithm, "This algorithm only")->type_name("NAME");
  app.add_option("--collective", options->collective, "This collective only")->type_name("NAME");
  app.add_option("--ranks", options->ranks, "Numbers of ranks: 4, 2-33, or 2,3,5-9")
      ->type_name("LIST")
      ->capture_default_str();
  add_output_options(app, options->output);
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command prove_command() {
  return {.name = "prove",
          .summary = "Show that algorithms do what they should, or tell the story of how they do not",
          .examples =
              "tutti prove\n"
              "tutti prove --algorithm ring --collective all_reduce --ranks 2-33\n"
              "tutti prove --ranks 2,3,5-9 --json",
          .define = define};
}

}  // namespace tutti::cli
