// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule/prove_file.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/views/table.hpp"
#include "cli/schedule/proof_summary.hpp"
#include "cli/schedule/schedule_file.hpp"
#include "schedule/cost.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti::cli {

namespace {

std::vector<Cell> cells_of(const std::string& path, const Schedule& schedule, const Proof& proof,
                           std::size_t num_columns) {
  std::vector<Cell> cells = {printable(path), printable(schedule.name), std::string(name_of(schedule.collective)),
                             number_cell(schedule.num_ranks), proof.ok() ? "proven" : "wrong"};
  if (proof.ok()) {
    ProofSummary summary;
    summary.add(schedule, proof);
    summary.set_cost(cost_of(schedule));
    for (Cell& cell : summary.cells()) cells.push_back(std::move(cell));
  }
  cells.resize(num_columns);
  return cells;
}

}  // namespace

Exit prove_files(const std::vector<std::string>& paths, const OutputOptions& output, const Context& context) {
  Table table = proof_table({{"file"}, {"name"}, {"collective"}, {"ranks"}, {"verdict"}});
  Exit exit = Exit::done;
  for (const std::string& path : paths) {
    const Result<Schedule> schedule = read_schedule_file(path);
    if (!schedule.ok()) {
      exit = std::max(exit, failed(context, "prove", schedule.status()));
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
  return written.ok() ? exit : failed(context, "prove", written);
}

}  // namespace tutti::cli
