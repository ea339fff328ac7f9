// SPDX-License-Identifier: Apache-2.0
// The readers of exports: any text is refused with its place, or can be asked about any call. Of Open MPI's rules, what
// is written again means the same.
#include <string_view>

#include "fuzz.hpp"
#include "tune/export/mpich_selection.hpp"
#include "tune/export/nccl_tuner.hpp"
#include "tune/export/openmpi_rules.hpp"
#include "tune/export/ucc_score.hpp"

namespace tutti::tune {
namespace {

using fuzz::require;

void check_place(const Status& status) {
  require(status.ok() || status.message().starts_with("f:"), "an error has its place");
}

template <typename Ask>
void for_calls(const Ask& ask) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1024}, kNoEnd})
    for (const std::uint32_t ranks : {1U, 3U, 8U}) ask(ranks, bytes);
}

void check(std::string_view text) {
  const Result<OpenMpiRules> classic = read_openmpi_classic(text, "f");
  check_place(classic.status());
  if (classic.ok()) {
    const Result<OpenMpiRules> again = read_openmpi_classic(write_openmpi_classic(*classic, "f"), "f");
    require(again.ok(), "what is written is read");
    for_calls([&](std::uint32_t ranks, std::uint64_t bytes) {
      require(classic->find(Collective::all_reduce, ranks, bytes) == again->find(Collective::all_reduce, ranks, bytes),
              "it means the same");
    });
  }
  const Result<OpenMpiRules> json = read_openmpi_json(text, "f");
  check_place(json.status());
  if (json.ok())
    for_calls([&](auto ranks, auto bytes) { static_cast<void>(json->find(Collective::all_reduce, ranks, bytes)); });
  const Result<MpichSelection> mpich = read_mpich_selection(text, "f");
  check_place(mpich.status());
  if (mpich.ok())
    for_calls([&](auto ranks, auto bytes) { static_cast<void>(mpich->find({.ranks = ranks, .bytes = bytes})); });
  const Result<NcclTuner> nccl = read_nccl_tuner(text, "f");
  check_place(nccl.status());
  const Result<UccScores> ucc = read_ucc_scores(text, "f");
  check_place(ucc.status());
  if (ucc.ok())
    for_calls([&](auto ranks, auto bytes) { static_cast<void>(ucc->find(Collective::all_reduce, ranks, bytes)); });
  static_cast<void>(selection_in_library(text, "f"));
}

}  // namespace
}  // namespace tutti::tune

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::tune::check(tutti::fuzz::as_text(data, size));
  return 0;
}
