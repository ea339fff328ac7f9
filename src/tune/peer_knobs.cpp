// SPDX-License-Identifier: Apache-2.0
#include "tune/peer_knobs.hpp"

#include <string>

#include "base/text.hpp"

namespace tutti::tune {

namespace {

struct KnobRow {
  std::string_view peer;
  Collective collective;
  std::string_view variable;
  std::string_view values;      // with commas between
  std::string_view algorithms;  // that heed it
  std::uint64_t least_bytes;
};

// Open MPI 4.1: ompi_info --param coll tuned --level 9, and which algorithms of coll/base take the argument.
constexpr std::string_view kSegments = "4096,16384,65536,262144";
constexpr std::uint64_t kLeastForSegments = 16 << 10;
constexpr KnobRow kRows[] = {
    {"openmpi", Collective::all_reduce, "OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize", kSegments,
     "segmented_ring", kLeastForSegments},
    {"openmpi", Collective::broadcast, "OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize", kSegments,
     "chain,pipeline,split_binary_tree,binary_tree,binomial,knomial", kLeastForSegments},
    {"openmpi", Collective::broadcast, "OMPI_MCA_coll_tuned_bcast_algorithm_chain_fanout", "1,2,8", "chain", 0},
    {"openmpi", Collective::reduce, "OMPI_MCA_coll_tuned_reduce_algorithm_segmentsize", kSegments,
     "chain,pipeline,binary,binomial,in-order_binary", kLeastForSegments},
    {"openmpi", Collective::reduce, "OMPI_MCA_coll_tuned_reduce_algorithm_chain_fanout", "1,2,8", "chain", 0},
};

std::vector<std::string> words_in(std::string_view list) {
  std::vector<std::string> words;
  for (const std::string_view word : split(list, ',')) words.emplace_back(word);
  return words;
}

}  // namespace

std::vector<Knob> knobs_of(std::string_view peer, Collective collective) {
  std::vector<Knob> knobs;
  for (const KnobRow& row : kRows)
    if (row.peer == peer && row.collective == collective)
      knobs.push_back({.name = std::string(row.variable),
                       .values = words_in(row.values),
                       .algorithms = words_in(row.algorithms),
                       .least_bytes = row.least_bytes});
  return knobs;
}

}  // namespace tutti::tune
