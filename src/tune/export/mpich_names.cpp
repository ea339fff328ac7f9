// SPDX-License-Identifier: Apache-2.0
#include "tune/export/mpich_names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tutti::tune {

namespace {

struct MpichRow {
  Collective collective{};
  std::string_view word;
  std::string_view function;
  MpichSize size = MpichSize::none;
};

// csel.c of MPICH 4.0. Of a gather and a scatter it multiplies elements, not bytes, with the ranks; of the others
// without a size it ends the program.
constexpr auto kMpich = std::to_array<MpichRow>({
    {Collective::all_reduce, "allreduce", "Allreduce", MpichSize::average},
    {Collective::all_gather, "allgather", "Allgather", MpichSize::total},
    {Collective::reduce_scatter, "reduce_scatter_block", "Reduce_scatter_block", MpichSize::total},
    {Collective::broadcast, "bcast", "Bcast", MpichSize::average},
    {Collective::reduce, "reduce", "Reduce", MpichSize::average},
    {Collective::all_to_all, "alltoall", "Alltoall", MpichSize::average},
    {Collective::gather, "gather", "Gather"},
    {Collective::scatter, "scatter", "Scatter"},
    {Collective::scan, "scan", "Scan"},
    {Collective::exclusive_scan, "exscan", "Exscan"},
    {Collective::barrier, "barrier", "Barrier"},
});

constexpr auto kOtherWords = std::to_array<std::string_view>({
    "allgatherv",
    "alltoallv",
    "alltoallw",
    "gatherv",
    "reduce_scatter",
    "scatterv",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
});

struct NeedsRow {
  Collective collective{};
  std::string_view algorithm;
  MpichNeeds needs;
};

// The restrictions in coll_algorithms.txt of MPICH 4.0.
constexpr auto kNeeds = std::to_array<NeedsRow>({
    {Collective::barrier, "smp", {.parent = true}},
    {Collective::broadcast, "smp", {.parent = true}},
    {Collective::all_to_all, "brucks", {.out_of_place = true}},
    {Collective::all_to_all, "pairwise", {.out_of_place = true}},
    {Collective::all_to_all, "scattered", {.out_of_place = true}},
    {Collective::all_to_all, "pairwise_sendrecv_replace", {.in_place = true}},
    {Collective::reduce, "smp", {.parent = true, .commutative = true}},
    {Collective::reduce, "reduce_scatter_gather", {.built_in_operator = true, .many_elements = true}},
    {Collective::all_reduce, "smp", {.parent = true, .commutative = true}},
    {Collective::all_reduce, "reduce_scatter_allgather", {.built_in_operator = true, .many_elements = true}},
    {Collective::reduce_scatter, "pairwise", {.commutative = true}},
    {Collective::reduce_scatter, "recursive_halving", {.commutative = true}},
    {Collective::scan, "smp", {.commutative = true, .consecutive = true}},
});

const MpichRow* mpich_row(Collective collective) {
  const auto found =
      std::find_if(kMpich.begin(), kMpich.end(), [&](const MpichRow& row) { return row.collective == collective; });
  return found == kMpich.end() ? nullptr : &*found;
}

}  // namespace

std::string_view mpich_word_of(Collective collective) {
  const MpichRow* const row = mpich_row(collective);
  return row == nullptr ? "" : row->word;
}

bool is_mpich_collective(std::string_view word) {
  const auto is_known = [](std::string_view name) {
    return std::find(kOtherWords.begin(), kOtherWords.end(), name) != kOtherWords.end() ||
           std::any_of(kMpich.begin(), kMpich.end(), [&](const MpichRow& row) { return row.word == name; });
  };
  return is_known(word) || (word.starts_with('i') && is_known(word.substr(1)));
}

std::string mpich_function_of(Collective collective, std::string_view algorithm) {
  const MpichRow* const row = mpich_row(collective);
  if (row == nullptr) return "";
  return fmt::format("MPIR_{}_{}_{}", row->function, algorithm == "nb" ? "allcomm" : "intra", algorithm);
}

MpichNeeds mpich_needs_of(Collective collective, std::string_view algorithm) {
  const auto found = std::find_if(kNeeds.begin(), kNeeds.end(), [&](const NeedsRow& row) {
    return row.collective == collective && row.algorithm == algorithm;
  });
  return found == kNeeds.end() ? MpichNeeds() : found->needs;
}

MpichSize mpich_size_of(Collective collective) {
  const MpichRow* const row = mpich_row(collective);
  return row == nullptr ? MpichSize::none : row->size;
}

}  // namespace tutti::tune
