#include "cli/prove_file.hpp"

#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/schedule_file.hpp"
#include "cli/table.hpp"
#include "schedule/cost.hpp"
#include "schedule/prove.hpp"

namespace tutti::cli {

namespace {

Cell number_cell(std::uint64_t number) { return static_cast<std::int64_t>(number); }

Cell use_cell(bool allowed, Exposure exposure) {
  if (!allowed) return "no";
  return exposure == Exposure::none ? Cell() : Cell(std::string(name_of(exposure)));
}

// Steps and blocks are of the rank that has most; blocks are sizes of a block.
Table empty_table() {
  return Table({{"file"},
                {"name"},
                {"collective"},
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
}

std::vector<Cell> cells_of(const std::string& path, const Schedule& schedule, const Proof& proof,
                           std::size_t num_columns) {
  std::vector<Cell> cells = {printable(path), printable(schedule.name), std::string(name_of(schedule.collective)),
                             number_cell(schedule.num_ranks), proof.ok() ? "proven" : "wrong"};
  if (proof.ok()) {
    const Cost cost = cost_of(schedule);
    const auto blocks = [&](std::uint64_t pieces) {
      return std::round(static_cast<double>(pieces) / cost.num_pieces * 1e4) / 1e4;
    };
    cells.emplace_back(std::string(name_of(proof.order)));
    cells.push_back(proof.has_messages ? number_cell(proof.least_depth) : Cell());
    cells.push_back(proof.has_messages ? number_cell(proof.least_depth_fused) : Cell());
    cells.push_back(proof.least_slots == 0 ? Cell() : number_cell(proof.least_slots));
    cells.push_back(use_cell(schedule.allows_out_of_place, proof.out_of_place.exposure));
    cells.push_back(use_cell(schedule.allows_in_place, proof.in_place.exposure));
    cells.push_back(number_cell(cost.most.steps));
    cells.emplace_back(blocks(cost.most.pieces_out()));
    cells.emplace_back(blocks(cost.most.pieces_in()));
  }
  cells.resize(num_columns);
  return cells;
}

}  // namespace

Exit prove_files(const std::vector<std::string>& paths, const OutputOptions& output, const Context& context) {
  Table table = empty_table();
  Exit exit = Exit::done;
  for (const std::string& path : paths) {
    const Result<Schedule> schedule = read_schedule_file(path);
    if (!schedule.ok()) {
      context.error << "tutti prove: " << schedule.status().to_string() << "\n";
      exit = Exit::misused;
      continue;
    }
    const Proof proof = prove(*schedule);
    table.add_row(cells_of(path, *schedule, proof, table.columns().size()));
    if (proof.ok()) continue;
    context.error << fmt::format("{}: {}\n", printable(path), proof.failure->to_string());
    if (exit == Exit::done) exit = Exit::found_wrong;
  }
  if (table.rows().empty()) return exit;
  const Status written = write_output(render(table, output.format), output, context);
  if (written.ok()) return exit;
  context.error << "tutti prove: " << written.to_string() << "\n";
  return Exit::misused;
}

}  // namespace tutti::cli
