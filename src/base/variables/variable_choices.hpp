// SPDX-License-Identifier: Apache-2.0
// The words that variables take which are a choice or a list (variables_table.hpp). Constants; thread-safe.
#pragma once

#include <array>
#include <string_view>

namespace tutti::variable_choices {
inline constexpr auto kDebug = std::to_array<std::string_view>({"none", "version", "warn", "info", "trace"});
inline constexpr auto kSubsystems =
    std::to_array<std::string_view>({"init", "coll", "shm", "net", "env", "prove", "bench", "launch", "all"});
// The catalogue's names (src/algorithms); a test holds the two equal.
inline constexpr auto kAllReduce = std::to_array<std::string_view>({"auto",
                                                                    "one_shot",
                                                                    "two_shot",
                                                                    "two_shot_pull",
                                                                    "two_shot_few",
                                                                    "multicast_one_shot",
                                                                    "multicast_two_shot",
                                                                    "ring",
                                                                    "ring_bidirectional",
                                                                    "ring_bidir_ag",
                                                                    "recursive_doubling",
                                                                    "recursive_multiplying",
                                                                    "rabenseifner",
                                                                    "reduce_broadcast",
                                                                    "double_binary_tree",
                                                                    "swing",
                                                                    "bucket_2d",
                                                                    "bucket_3d",
                                                                    "bucket_mesh",
                                                                    "hierarchical",
                                                                    "centre"});
inline constexpr auto kAllGather = std::to_array<std::string_view>(
    {"auto", "direct", "ring", "ring_bidirectional", "neighbour_exchange", "recursive_doubling", "bruck", "pat"});
inline constexpr auto kReduceScatter =
    std::to_array<std::string_view>({"auto", "direct", "ring", "recursive_halving", "pat"});
inline constexpr auto kBroadcast =
    std::to_array<std::string_view>({"auto", "direct", "push_pull", "knomial", "chain", "scatter_all_gather"});
inline constexpr auto kReduce = std::to_array<std::string_view>({"auto", "direct", "push_pull", "knomial", "chain"});
inline constexpr auto kAllToAll = std::to_array<std::string_view>({"auto", "direct", "pairwise", "bruck"});
inline constexpr auto kRooted = std::to_array<std::string_view>({"auto", "linear", "knomial"});
inline constexpr auto kScan = std::to_array<std::string_view>({"auto", "linear", "recursive_doubling"});
inline constexpr auto kBarrier = std::to_array<std::string_view>({"auto", "direct", "dissemination"});
inline constexpr auto kAllGatherV = std::to_array<std::string_view>({"auto", "direct", "ring", "bruck"});
inline constexpr auto kReduceScatterV = std::to_array<std::string_view>({"auto", "direct", "ring"});
inline constexpr auto kAllToAllV = std::to_array<std::string_view>({"auto", "direct", "pairwise"});
inline constexpr auto kRootedV = std::to_array<std::string_view>({"auto", "linear"});
inline constexpr std::string_view kFilePrefix = "file:";
inline constexpr auto kStores = std::to_array<std::string_view>({"auto", "cached", "past"});
inline constexpr auto kTransports = std::to_array<std::string_view>({"tcp", "ofi"});
inline constexpr auto kWalkers = std::to_array<std::string_view>({"auto", "generic"});
}  // namespace tutti::variable_choices
