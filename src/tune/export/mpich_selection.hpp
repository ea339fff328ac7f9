// SPDX-License-Identifier: Apache-2.0
// MPICH's selection of collective algorithms as a tree in JSON (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE). A file
// takes the place of the whole tree that MPICH has built in: a collective that it lacks ends the program at the first
// call. So a table is merged into the tree of the MPICH that it is for. docs/formats/exports.md. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/toml/document.hpp"
#include "tune/export/rules.hpp"

namespace tutti::tune {

// What a tree asks about a call of an intracommunicator.
struct MpichCall {
  Collective collective = Collective::all_reduce;
  std::uint32_t ranks = 2;
  std::uint64_t bytes = 0;  // as nccl-tests means them
  bool is_parent = true;    // not of one node's ranks, which MPICH makes itself within algorithms for several
  bool is_commutative = true;
  bool is_built_in = true;
  bool has_few = false;  // fewer elements than the greatest power of two among the ranks
  bool is_in_place = false;
  bool is_consecutive = true;
};

class MpichSelection {
 public:
  explicit MpichSelection(document::TomlTable tree) : tree_(std::move(tree)) {}

  // The function that MPICH calls: "MPIR_Allreduce_intra_recursive_doubling". An error where the tree has nothing.
  [[nodiscard]] Result<std::string> find(const MpichCall& call) const;
  [[nodiscard]] const document::TomlTable& tree() const { return tree_; }

 private:
  document::TomlTable tree_;
};

// What MPICH takes: it ends a program over a key that it does not know, and over a question about a number that has no
// answer for all others.
[[nodiscard]] Result<MpichSelection> read_mpich_selection(std::string_view text, std::string_view place);

// The tree that a library has built in, of the bytes of its file.
[[nodiscard]] Result<std::string> selection_in_library(std::string_view library, std::string_view place);

// An error where the base is not of the shape that MPICH 4 has: collectives, each with a part for intracommunicators.
[[nodiscard]] Result<Exported> export_to_mpich(Rules rules, const MpichSelection& base);

}  // namespace tutti::tune
