// SPDX-License-Identifier: Apache-2.0
// Which operations of the oracle's code touch what another lane may be touching at the same time. All others commute
// with everything that others do, so that it does not matter when they are done.
#include <algorithm>

#include "schedule/oracle/oracle_code.hpp"

namespace tutti::oracle {

namespace {

struct Use {
  std::uint32_t owner = kNone;  // the rank whose caller has the cell
  std::uint32_t row = kNone;    // the first lane that touches it
  bool by_several = false;
  bool is_written = false;
  bool from_afar = false;  // by a lane of another rank

  // A caller and its own lanes never run at the same time: a cell is shared by two lanes of which one writes it, or by
  // a caller and a lane of another rank.
  [[nodiscard]] bool is_shared() const { return from_afar || (by_several && is_written); }
};

template <typename Visit>
void for_each_cell(const Code& code, const Row& row, const Operation& operation, Visit visit) {
  switch (operation.act) {
    case Act::load:
      for (std::uint32_t at = operation.at; at < operation.at + operation.number; ++at)
        visit(code.operands[at].cell, false);
      return;
    case Act::store:
    case Act::scribble: visit(operation.at, true); return;
    case Act::fill:
    case Act::check:
    case Act::verify:
      for (const Filled& each : code.filled[row.rank][0]) visit(each.cell, operation.act == Act::fill);
      return;
    case Act::wait:
    case Act::credit:
    case Act::taken:
    case Act::bump: return;
  }
}

std::vector<Use> uses_of(const Code& code) {
  std::vector<Use> uses(code.num_cells);
  for (std::uint32_t rank = 0; rank < code.filled.size(); ++rank)
    for (const Filled& each : code.filled[rank][0]) uses[each.cell].owner = rank;
  const std::size_t num_lanes = code.rows.size() - code.programs.size();
  for (std::uint32_t index = 0; index < num_lanes; ++index) {
    const Row& row = code.rows[index];
    for (const Operation& operation : row.operations) {
      for_each_cell(code, row, operation, [&](std::uint32_t cell, bool writes) {
        Use& use = uses[cell];
        use.is_written = use.is_written || writes;
        use.from_afar = use.from_afar || (use.owner != kNone && use.owner != row.rank);
        if (use.row == kNone) use.row = index;
        use.by_several = use.by_several || use.row != index;
      });
    }
  }
  // A message is read once it is there, and nothing is written over it.
  std::fill(uses.begin() + code.first_message, uses.end(), Use{});
  return uses;
}

}  // namespace

void mark_shared(Code& code) {
  const std::vector<Use> uses = uses_of(code);
  for (Row& row : code.rows) {
    for (Operation& operation : row.operations) {
      // Whoever leaves a barrier asks who has come.
      const bool comes = operation.act == Act::bump && operation.at == code.first_begun + row.rank;
      operation.is_shared = code.is_barrier && (operation.act == Act::check || comes);
      for_each_cell(code, row, operation, [&](std::uint32_t cell, bool) {
        operation.is_shared = operation.is_shared || uses[cell].is_shared();
      });
    }
  }
}

}  // namespace tutti::oracle
