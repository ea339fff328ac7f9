// SPDX-License-Identifier: Apache-2.0
// Variables that only benchmarks (and one test) read: workers of peers (src/peers), simulated fabrics, and processes
// that the harness starts. They come from the environment alone. Each has one row, so `tutti variables` lists it and no
// part of Tutti calls it unknown. Constants; thread-safe.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

struct BenchVariable {
  std::string_view name{};
  std::string_view meaning{};  // sentences
  std::string_view initial{};  // where it is not set; empty: nothing
  std::span<const std::string_view> choices{};
  std::string_view allowed{};  // for people, where there are no choices
  bool secret = false;         // its value is never shown
  std::string_view group = "benchmarks";
};

namespace bench_choices {
inline constexpr auto kMemory = std::to_array<std::string_view>({"ordinary", "symmetric"});
inline constexpr auto kDevices = std::to_array<std::string_view>({"own", "shared"});
inline constexpr auto kGlooAllReduce = std::to_array<std::string_view>({"unspecified", "ring", "bcube"});
inline constexpr auto kLaunchers =
    std::to_array<std::string_view>({"local", "tutti", "mpirun.openmpi", "mpirun.mpich", "srun"});
inline constexpr auto kSwitch = std::to_array<std::string_view>({"0", "1"});
inline constexpr std::string_view kRank = "a rank";
inline constexpr std::string_view kMoment = "a rank, or rank@call, such as 1@50";
inline constexpr std::string_view kTime = "a duration, such as 10us";
}  // namespace bench_choices

inline constexpr auto kBenchVariables = std::to_array<BenchVariable>({
    {.name = "BENCH_MEMORY",
     .meaning = "Where the buffers of Tutti's workers and of simulated fabrics lie: symmetric is from tuttiMemAlloc, "
                "or on devices from tuttiDeviceMemAlloc.",
     .initial = "ordinary",
     .choices = bench_choices::kMemory},
    {.name = "BENCH_DEVICES",
     .meaning = "Whether ranks of the peer tutti_device may share a device. shared is for tests of results: a device "
                "runs its processes in turns, so times say nothing about the library.",
     .initial = "own",
     .choices = bench_choices::kDevices},
    {.name = "BENCH_CORRECTION",
     .meaning = "Whether times of a simulated fabric are corrected by published ones near the case, with an interval.",
     .initial = "1",
     .choices = bench_choices::kSwitch},
    {.name = "MILESTONE_FAST",
     .meaning = "Whether a milestone only draws again what its folder has rows of, without a run.",
     .initial = "0",
     .choices = bench_choices::kSwitch},
    {.name = "TUTTI_GLOO_ALLREDUCE_ALGORITHM",
     .meaning = "The algorithm that Gloo's worker asks Gloo for in every all-reduce.",
     .initial = "unspecified",
     .choices = bench_choices::kGlooAllReduce},
    {.name = "TUTTI_NULL_WORK",
     .meaning = "How long a call of the null peer takes, before TUTTI_NULL_FACTOR and TUTTI_NULL_DELAY.",
     .initial = "0s",
     .allowed = bench_choices::kTime},
    {.name = "TUTTI_NULL_FACTOR",
     .meaning = "The factor that the null peer applies to TUTTI_NULL_WORK.",
     .initial = "1",
     .allowed = "a number from 0 to 1e6"},
    {.name = "TUTTI_NULL_DELAY",
     .meaning = "How long a call of the null peer takes in addition to its work.",
     .initial = "0s",
     .allowed = bench_choices::kTime},
    {.name = "TUTTI_NULL_SPIN",
     .meaning = "Whether the null peer spins through its delay, instead of sleeping.",
     .initial = "0",
     .choices = bench_choices::kSwitch},
    {.name = "TUTTI_NULL_BEGIN",
     .meaning = "How long the null peer takes to begin.",
     .initial = "0s",
     .allowed = bench_choices::kTime},
    {.name = "TUTTI_NULL_WRONG",
     .meaning = "Whether the null peer claims to give results but gives none.",
     .initial = "0",
     .choices = bench_choices::kSwitch},
    {.name = "TUTTI_NULL_CRASH",
     .meaning = "A rank of the null peer that ends by a signal in a call.",
     .allowed = bench_choices::kMoment},
    {.name = "TUTTI_NULL_HANG",
     .meaning = "A rank of the null peer that never returns from a call.",
     .allowed = bench_choices::kMoment},
    {.name = "TUTTI_NULL_FAIL",
     .meaning = "A rank of the null peer that throws an exception in a call.",
     .allowed = bench_choices::kMoment},
    {.name = "TUTTI_NULL_EXIT",
     .meaning = "A rank of the null peer that ends before it has said hello.",
     .allowed = bench_choices::kRank},
    {.name = "TUTTI_NULL_RANK",
     .meaning = "The rank that every rank of the null peer claims to be.",
     .allowed = bench_choices::kRank},
    {.name = "TUTTI_NULL_TWICE",
     .meaning = "A rank of the null peer that answers its first case twice.",
     .allowed = bench_choices::kRank},
    {.name = "TUTTI_NULL_GARBAGE",
     .meaning = "A rank of the null peer that answers its first case with invalid JSON.",
     .allowed = bench_choices::kRank},
    {.name = "TUTTI_NULL_OVERSIZED",
     .meaning = "A rank of the null peer that announces an answer of 4 GB to its first case.",
     .allowed = bench_choices::kRank},
    {.name = "TUTTI_NULL_SILENT",
     .meaning = "A rank of the null peer that never answers its first case.",
     .allowed = bench_choices::kRank},
    {.name = "TUTTI_NULL_STRANGER",
     .meaning = "A rank of the null peer next to which a stranger connects with a wrong token.",
     .allowed = bench_choices::kRank},
    {.name = "TUTTI_NULL_CROWDED",
     .meaning = "A rank of the null peer that connects after many silent connections.",
     .allowed = bench_choices::kRank},
    {.name = "BENCH_WORKER",
     .meaning = "The harness sets it for each worker: the harness's address, and a token.",
     .allowed = "what the harness sets",
     .secret = true},
    {.name = "BENCH_PROGRAM",
     .meaning = "The harness sets it for each unmodified program that it measures: an id that marks all its processes.",
     .allowed = "what the harness sets",
     .secret = true},
    {.name = "BENCH_LAUNCHER",
     .meaning = "The harness sets it for each worker: the launcher, whose variables hold rank and number of ranks.",
     .choices = bench_choices::kLaunchers},
    {.name = "BENCH_RANK",
     .meaning = "The harness sets it for each worker that it starts itself: its rank.",
     .allowed = bench_choices::kRank},
    {.name = "BENCH_NUM_RANKS",
     .meaning = "The harness sets it for each worker that it starts itself: the number of ranks.",
     .allowed = "a number of ranks"},
    {.name = "BENCH_PADDING",
     .meaning =
         "The harness fills it, and BENCH_PADDING_0 and so on, to keep the environment's size constant in a sweep.",
     .allowed = "what the harness sets"},
    {.name = "TUTTI_REWRITE_GOLDEN",
     .meaning = "If set, the test of the simulator's transcripts rewrites them.",
     .allowed = "any text",
     .group = "tests"},
});

// The row of that name, or null. Ignores case, and treats hyphens as underscores.
[[nodiscard]] const BenchVariable* find_bench_variable(std::string_view name);

// What it allows, for people.
[[nodiscard]] std::string allowed_text(const BenchVariable& variable);

}  // namespace tutti
