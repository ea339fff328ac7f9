// SPDX-License-Identifier: Apache-2.0
// Every variable that Tutti reads, one row each: to add one is to add an id and a row. All else (reading, checking,
// messages, the listing of `tutti variables`) follows from the row. Constants; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/variables/variable_choices.hpp"

namespace tutti {

// In the order of the rows below.
enum class VariableId : std::uint8_t {
  debug,
  debug_subsystems,
  debug_file,
  conf_file,
  record,
  fabric,
  allreduce_algorithm,
  allgather_algorithm,
  reducescatter_algorithm,
  broadcast_algorithm,
  reduce_algorithm,
  alltoall_algorithm,
  gather_algorithm,
  scatter_algorithm,
  scan_algorithm,
  exscan_algorithm,
  barrier_algorithm,
  allgatherv_algorithm,
  reducescatterv_algorithm,
  alltoallv_algorithm,
  gatherv_algorithm,
  scatterv_algorithm,
  ring_bidir_ag_max_size,
  profile,
  table,
  device_algorithm,
  device_table,
  device_channels,
  p2p_use_memcpy,
  walker,
  staging_slot,
  staging_depth,
  staging_spread,
  staging_stores,
  stream_min,
  attach_min,
  shm_locality,
  transport,
  ofi_provider,
  socket_ifname,
  sockets_per_peer,
  tcp_congestion,
  host_id,
  start_port,
  spin,
  yield,
  leave_busy_cores,
  timeout,
  late_warning,
  rank,
  num_ranks,
  local_core,
  unique_id,
};

enum class VariableType : std::uint8_t { boolean, integer, bytes, duration, choice, list, text };

// Who is meant to set it: a user in search of what happens, one who tunes, one who guards against hangs, or
// `tutti launch` for the processes that it starts.
enum class VariableGroup : std::uint8_t { diagnosis, tuning, waiting, launch };

inline constexpr std::string_view kVariablePrefix = "TUTTI_";

// A variable that admits "automatic" takes this number (or the word auto) for it, as NCCL's do.
inline constexpr std::int64_t kAutomatic = -2;
inline constexpr std::string_view kAutomaticWord = "auto";
// What one that admits any size takes for that; its value is then kAnyBytes.
inline constexpr std::int64_t kNoLimit = -1;
inline constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

// Both ends included; in bytes or nanoseconds where the type has a unit.
struct VariableRange {
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
  std::int64_t low = 0;
  std::int64_t high = kUnbounded;
};

struct VariableRow {
  VariableId id{};
  std::string_view name{};
  VariableType type{};
  std::string_view initial{};                   // the default, as a user would write it; empty: unset means "not given"
  VariableRange range{};                        // of integer, bytes and duration
  bool automatic = false;                       // whether kAutomatic is allowed beside the range
  bool unlimited = false;                       // of bytes: whether kNoLimit is, for any size
  std::span<const std::string_view> choices{};  // of choice and list; a list without any takes any words
  std::string_view prefix{};                    // of choice: a value that begins so is taken as it stands
  bool takes_parameters = false;                // of choice: so is one with something in parentheses behind it
  std::string_view behind{};                    // what stands behind the prefix, for people: "PATH"
  std::string_view meaning{};                   // one sentence
  std::array<std::string_view, 2> aliases{};    // the originals' names
  VariableGroup group{};
  bool secret = false;            // its value is never shown
  bool environment_only = false;  // means something for one process only, so no tutti.conf may hold it

  // A variable that may have no value of its own, which a getter tells by an empty optional.
  [[nodiscard]] constexpr bool may_be_absent() const { return automatic || initial.empty(); }
  [[nodiscard]] constexpr bool is_ranged() const {
    return type == VariableType::integer || type == VariableType::bytes || type == VariableType::duration;
  }
};

namespace variable_limits {
inline constexpr std::int64_t kMicrosecond = 1'000;
inline constexpr std::int64_t kMinute = 60'000'000'000;
inline constexpr std::int64_t kYear = kMinute * 60 * 24 * 365;  // far enough from overflow when added to a clock
inline constexpr std::int64_t kMostRanks = 1 << 20;
}  // namespace variable_limits

[[nodiscard]] constexpr VariableRow algorithm_row(VariableId id, std::string_view name,
                                                  std::span<const std::string_view> choices, std::string_view meaning) {
  return {.id = id,
          .name = name,
          .type = VariableType::choice,
          .initial = "auto",
          .choices = choices,
          .prefix = variable_choices::kFilePrefix,
          .takes_parameters = true,
          .behind = "PATH",
          .meaning = meaning,
          .group = VariableGroup::tuning};
}

inline constexpr auto kVariables = std::to_array<VariableRow>({
    {.id = VariableId::debug,
     .name = "TUTTI_DEBUG",
     .type = VariableType::choice,
     .initial = "warn",
     .choices = variable_choices::kDebug,
     .meaning =
         "How much the log says. info: once for each collective and range of sizes, which algorithm runs, and why. "
         "trace: each call with its buffers; calls then skip the fast paths. Each level includes those before it.",
     .aliases = {"NCCL_DEBUG"},
     .group = VariableGroup::diagnosis},
    {.id = VariableId::debug_subsystems,
     .name = "TUTTI_DEBUG_SUBSYS",
     .type = VariableType::list,
     .initial = "all",
     .choices = variable_choices::kSubsystems,
     .meaning = "Which parts of Tutti log at info and trace; a leading ^ takes all but those named.",
     .aliases = {"NCCL_DEBUG_SUBSYS"},
     .group = VariableGroup::diagnosis},
    {.id = VariableId::debug_file,
     .name = "TUTTI_DEBUG_FILE",
     .type = VariableType::text,
     .meaning = "The file that the log is appended to, with %h for the host and %p for the process; standard error "
                "where it is not set.",
     .aliases = {"NCCL_DEBUG_FILE"},
     .group = VariableGroup::diagnosis},
    {.id = VariableId::conf_file,
     .name = "TUTTI_CONF_FILE",
     .type = VariableType::text,
     .meaning = "The file that is read instead of the user's and the system's tutti.conf; empty for none.",
     .aliases = {"NCCL_CONF_FILE"},
     .group = VariableGroup::diagnosis,
     .environment_only = true},
    {.id = VariableId::record,
     .name = "TUTTI_RECORD",
     .type = VariableType::text,
     .meaning = "The folder into which each rank writes which collectives it calls, how often and from where; tutti "
                "record sets it, and makes a workload of what is there.",
     .group = VariableGroup::diagnosis},
    {.id = VariableId::fabric,
     .name = "TUTTI_FABRIC",
     .type = VariableType::text,
     .meaning =
         "simulate:FABRIC: calls are carried out here, and take virtual time, as on that fabric "
         "(simulate:torus_2d:2x3, simulate:./my.toml); tuttiGetVirtualTime tells it. Not set, or empty: real time.",
     .group = VariableGroup::diagnosis},
// The words are put together by the preprocessor, since a row only refers to them.
#define TUTTI_ALGORITHM_OF_EVERY(COLLECTIVE)                                                                      \
  "The algorithm of every " COLLECTIVE                                                                            \
  ": a name, with parameters where it takes some, as NAME(4); auto chooses by size, file: takes the schedule in " \
  "that file, which is proven when a communicator is made."
    algorithm_row(VariableId::allreduce_algorithm, "TUTTI_ALLREDUCE_ALGORITHM", variable_choices::kAllReduce,
                  TUTTI_ALGORITHM_OF_EVERY("all-reduce")),
    algorithm_row(VariableId::allgather_algorithm, "TUTTI_ALLGATHER_ALGORITHM", variable_choices::kAllGather,
                  TUTTI_ALGORITHM_OF_EVERY("all-gather")),
    algorithm_row(VariableId::reducescatter_algorithm, "TUTTI_REDUCESCATTER_ALGORITHM",
                  variable_choices::kReduceScatter, TUTTI_ALGORITHM_OF_EVERY("reduce-scatter")),
    algorithm_row(VariableId::broadcast_algorithm, "TUTTI_BROADCAST_ALGORITHM", variable_choices::kBroadcast,
                  TUTTI_ALGORITHM_OF_EVERY("broadcast")),
    algorithm_row(VariableId::reduce_algorithm, "TUTTI_REDUCE_ALGORITHM", variable_choices::kReduce,
                  TUTTI_ALGORITHM_OF_EVERY("reduce")),
    algorithm_row(VariableId::alltoall_algorithm, "TUTTI_ALLTOALL_ALGORITHM", variable_choices::kAllToAll,
                  TUTTI_ALGORITHM_OF_EVERY("all-to-all")),
    algorithm_row(VariableId::gather_algorithm, "TUTTI_GATHER_ALGORITHM", variable_choices::kRooted,
                  TUTTI_ALGORITHM_OF_EVERY("gather")),
    algorithm_row(VariableId::scatter_algorithm, "TUTTI_SCATTER_ALGORITHM", variable_choices::kRooted,
                  TUTTI_ALGORITHM_OF_EVERY("scatter")),
    algorithm_row(VariableId::scan_algorithm, "TUTTI_SCAN_ALGORITHM", variable_choices::kScan,
                  TUTTI_ALGORITHM_OF_EVERY("scan")),
    algorithm_row(VariableId::exscan_algorithm, "TUTTI_EXSCAN_ALGORITHM", variable_choices::kScan,
                  TUTTI_ALGORITHM_OF_EVERY("exclusive scan")),
    algorithm_row(VariableId::barrier_algorithm, "TUTTI_BARRIER_ALGORITHM", variable_choices::kBarrier,
                  TUTTI_ALGORITHM_OF_EVERY("barrier")),
    algorithm_row(VariableId::allgatherv_algorithm, "TUTTI_ALLGATHERV_ALGORITHM", variable_choices::kAllGatherV,
                  TUTTI_ALGORITHM_OF_EVERY("all-gather with blocks of different sizes")),
    algorithm_row(VariableId::reducescatterv_algorithm, "TUTTI_REDUCESCATTERV_ALGORITHM",
                  variable_choices::kReduceScatterV,
                  TUTTI_ALGORITHM_OF_EVERY("reduce-scatter with blocks of different sizes")),
    algorithm_row(VariableId::alltoallv_algorithm, "TUTTI_ALLTOALLV_ALGORITHM", variable_choices::kAllToAllV,
                  TUTTI_ALGORITHM_OF_EVERY("all-to-all with blocks of different sizes")),
    algorithm_row(VariableId::gatherv_algorithm, "TUTTI_GATHERV_ALGORITHM", variable_choices::kRootedV,
                  TUTTI_ALGORITHM_OF_EVERY("gather with blocks of different sizes")),
    algorithm_row(VariableId::scatterv_algorithm, "TUTTI_SCATTERV_ALGORITHM", variable_choices::kRootedV,
                  TUTTI_ALGORITHM_OF_EVERY("scatter with blocks of different sizes")),
#undef TUTTI_ALGORITHM_OF_EVERY
    {.id = VariableId::ring_bidir_ag_max_size,
     .name = "TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE",
     .type = VariableType::bytes,
     .initial = "-2",
     .automatic = true,
     .unlimited = true,
     .meaning =
         "Which all-reduces take ring_bidir_ag, the ring whose all-gather goes in both directions at once. -1: all "
         "that it supports, of any size. 0: none. Above 0: of those that would take ring or ring_bidir_ag by size, all "
         "up to this total size, and no others. -2 or auto: as the table or profile says. If untuned: none on "
         "one host; between hosts with one rank each, above 128 KiB in all and up to 512 KiB for each rank. "
         "TUTTI_ALLREDUCE_ALGORITHM takes precedence.",
     .aliases = {"NCCL_CTRAN_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE"},
     .group = VariableGroup::tuning},
    {.id = VariableId::profile,
     .name = "TUTTI_PROFILE",
     .type = VariableType::text,
     .initial = "auto",
     .meaning =
         "The machine profile: what is fastest at which size. auto takes the one for this processor; else the name "
         "of one that ships, or a file (with a / in its path, or ending in .toml). 'tutti probe' shows it.",
     .group = VariableGroup::tuning},
    {.id = VariableId::table,
     .name = "TUTTI_TABLE",
     .type = VariableType::text,
     .initial = "auto",
     .meaning = "The decision table, which goes before the machine profile: a file (a path with / or .toml), a folder "
                "of tables by machine, or none. auto: the one that 'tutti tune' wrote for this machine.",
     .group = VariableGroup::tuning},
    {.id = VariableId::device_algorithm,
     .name = "TUTTI_DEVICE_ALGORITHM",
     .type = VariableType::text,
     .meaning = "The algorithms that collectives take on devices, whatever the table says: all_reduce=two_shot,"
                "broadcast=direct. all_reduce=file:PATH takes a schedule file.",
     .group = VariableGroup::tuning},
    {.id = VariableId::device_table,
     .name = "TUTTI_DEVICE_TABLE",
     .type = VariableType::text,
     .initial = "auto",
     .meaning = "The decision table of devices, a file. auto: the one that ships, for devices that NVLink connects.",
     .group = VariableGroup::tuning},
    {.id = VariableId::device_channels,
     .name = "TUTTI_DEVICE_CHANNELS",
     .type = VariableType::integer,
     .initial = "0",
     .range = {0, 1024},
     .meaning = "The most multiprocessors of a device that a collective takes. 0: all of them.",
     .group = VariableGroup::tuning},
    {.id = VariableId::p2p_use_memcpy,
     .name = "TUTTI_P2P_USE_MEMCPY",
     .type = VariableType::boolean,
     .initial = "0",
     .meaning = "Whether collectives on devices that only copy, between symmetric buffers, are left to copy engines.",
     .aliases = {"NCCL_P2P_USE_CUDA_MEMCPY"},
     .group = VariableGroup::tuning},
    {.id = VariableId::walker,
     .name = "TUTTI_WALKER",
     .type = VariableType::choice,
     .initial = "auto",
     .choices = variable_choices::kWalkers,
     .meaning = "The executor of a plan. auto: a specialised walker where one fits the shape of the plan; "
                "generic: never.",
     .group = VariableGroup::tuning},
    {.id = VariableId::staging_slot,
     .name = "TUTTI_STAGING_SLOT",
     .type = VariableType::bytes,
     .initial = "-2",
     .range = {4 << 10, 16 << 20},
     .automatic = true,
     .meaning = "The size of one staging or message slot. auto: by the machine profile (rounds).",
     .group = VariableGroup::tuning},
    {.id = VariableId::staging_depth,
     .name = "TUTTI_STAGING_DEPTH",
     .type = VariableType::integer,
     .initial = "4",
     .range = {2, 64},
     .meaning = "The number of staging slots over which a rank rotates; small calls use 4 of them, or 2.",
     .group = VariableGroup::tuning},
    {.id = VariableId::staging_spread,
     .name = "TUTTI_STAGING_SPREAD",
     .type = VariableType::bytes,
     .initial = "-2",
     .range = {0, 2 << 20},
     .automatic = true,
     .meaning = "The bytes of staging or message slots over which payloads rotate, if they are short enough. 0: "
                "each payload lies at the beginning of its slot. auto: by the machine profile (spread).",
     .group = VariableGroup::tuning},
    {.id = VariableId::staging_stores,
     .name = "TUTTI_STAGING_STORES",
     .type = VariableType::choice,
     .initial = "auto",
     .choices = variable_choices::kStores,
     .meaning = "How ranks store payloads of 4K and more to slots: through the caches, which is faster for cores "
                "that share one, or past them. auto: by timing copies. Ranks may differ.",
     .group = VariableGroup::tuning},
    {.id = VariableId::stream_min,
     .name = "TUTTI_STREAM_MIN",
     .type = VariableType::bytes,
     .initial = "-2",
     .automatic = true,
     .meaning = "The size from which outputs are stored past the caches. Excepted are outputs of messages, of "
                "in-place reductions and of reductions of attached data. auto: by the machine profile (stream).",
     .group = VariableGroup::tuning},
    {.id = VariableId::attach_min,
     .name = "TUTTI_ATTACH_MIN",
     .type = VariableType::bytes,
     .initial = "-2",
     .automatic = true,
     .meaning = "The size from which ranks read or write ordinary memory of others directly (cross-memory "
                "attach), where algorithm and system allow it; below it, never. auto: by the machine profile "
                "(attach).",
     .group = VariableGroup::tuning},
    {.id = VariableId::shm_locality,
     .name = "TUTTI_SHM_LOCALITY",
     .type = VariableType::integer,
     .initial = "2",
     .range = {1, 2},
     .meaning = "On machines with several memory nodes, where messages between two ranks lie on their way: 1 near the "
                "sender, 2 near the receiver.",
     .aliases = {"NCCL_SHM_LOCALITY"},
     .group = VariableGroup::tuning},
    {.id = VariableId::transport,
     .name = "TUTTI_TRANSPORT",
     .type = VariableType::choice,
     .initial = "tcp",
     .choices = variable_choices::kTransports,
     .meaning = "What carries messages between ranks of several hosts: tcp, or ofi, which is libfabric (InfiniBand, "
                "Slingshot, EFA and others). The same on all ranks.",
     .group = VariableGroup::tuning},
    {.id = VariableId::ofi_provider,
     .name = "TUTTI_OFI_PROVIDER",
     .type = VariableType::text,
     .meaning = "With TUTTI_TRANSPORT=ofi: libfabric's provider, as `fi_info -l` calls it (verbs;ofi_rxm, efa, cxi, "
                "tcp;ofi_rxm). Not set: the first that libfabric names and that reaches other hosts. The same on all "
                "ranks.",
     .group = VariableGroup::tuning},
    {.id = VariableId::socket_ifname,
     .name = "TUTTI_SOCKET_IFNAME",
     .type = VariableType::text,
     .meaning = "The network interfaces by which ranks reach other hosts. Ranks of a host take them in turn. "
                "Beginnings of names, with commas between; ^ in front: all others; = in front: whole names "
                "(eth,ib; ^docker,lo; =eth0). Not set: the one by which a rank reaches the rendezvous.",
     .aliases = {"NCCL_SOCKET_IFNAME"},
     .group = VariableGroup::tuning},
    {.id = VariableId::sockets_per_peer,
     .name = "TUTTI_SOCKETS_PER_PEER",
     .type = VariableType::integer,
     .initial = "1",
     .range = {1, 8},
     .meaning = "The number of TCP connections between two ranks of different hosts. Long messages use them in turn. "
                "Take more than 1 if the network limits each connection, or if hosts have more interfaces "
                "(TUTTI_SOCKET_IFNAME) than ranks. The same on all ranks. Not used with TUTTI_TRANSPORT=ofi.",
     .group = VariableGroup::tuning},
    {.id = VariableId::tcp_congestion,
     .name = "TUTTI_TCP_CONGESTION",
     .type = VariableType::text,
     .meaning = "The congestion control of TCP connections between ranks: cubic, reno, bbr or another that the system "
                "has. Not set: the system's default. Not used with TUTTI_TRANSPORT=ofi.",
     .group = VariableGroup::tuning},
    {.id = VariableId::host_id,
     .name = "TUTTI_HOST_ID",
     .type = VariableType::text,
     .meaning = "Ranks of one machine with different values count as ranks of different hosts: they share no memory "
                "and talk over the network. For tests, and for containers that cannot share memory.",
     .aliases = {"NCCL_HOSTID"},
     .group = VariableGroup::tuning},
    {.id = VariableId::start_port,
     .name = "TUTTI_START_PORT",
     .type = VariableType::integer,
     .initial = "-2",
     .range = {1, 65535},
     .automatic = true,
     .meaning =
         "The TCP port of rank 0's host at which ranks of several hosts meet, where torchrun or srun has started "
         "them without PMIx or PMI. auto: one from 20000 to 27999 that follows from the launcher's variables.",
     .group = VariableGroup::tuning},
    {.id = VariableId::spin,
     .name = "TUTTI_SPIN",
     .type = VariableType::duration,
     .initial = "-2",
     .range = {0, variable_limits::kMinute},
     .automatic = true,
     .meaning = "How long a waiting rank spins, after its first looks, before it yields the processor.",
     .group = VariableGroup::waiting},
    {.id = VariableId::yield,
     .name = "TUTTI_YIELD",
     .type = VariableType::duration,
     .initial = "-2",
     .range = {0, variable_limits::kMinute},
     .automatic = true,
     .meaning = "How long a waiting rank yields before it sleeps.",
     .group = VariableGroup::waiting},
    {.id = VariableId::leave_busy_cores,
     .name = "TUTTI_LEAVE_BUSY_CORES",
     .type = VariableType::boolean,
     .initial = "1",
     .meaning = "Whether a rank leaves its binding when a foreign process keeps its core busy. It may then run on all "
                "cores of the ranks. Applies to ranks that share cores.",
     .group = VariableGroup::waiting},
    {.id = VariableId::timeout,
     .name = "TUTTI_TIMEOUT",
     .type = VariableType::duration,
     .initial = "0s",
     .range = {0, variable_limits::kYear},
     .meaning = "How long an operation waits for other ranks before it is an error; 0 for ever.",
     .group = VariableGroup::waiting},
    {.id = VariableId::late_warning,
     .name = "TUTTI_LATE_WARNING",
     .type = VariableType::duration,
     .initial = "30s",
     .range = {0, variable_limits::kYear},
     .meaning = "After this time a warning names the ranks that have not arrived; 0 for never.",
     .group = VariableGroup::waiting},
    {.id = VariableId::rank,
     .name = "TUTTI_RANK",
     .type = VariableType::integer,
     .range = {0, variable_limits::kMostRanks - 1},
     .meaning = "This process's rank, as tutti launch sets it; without it, those are asked that started the process "
                "otherwise: torchrun, PMIx, MPICH's PMI, Slurm.",
     .group = VariableGroup::launch,
     .environment_only = true},
    {.id = VariableId::num_ranks,
     .name = "TUTTI_NUM_RANKS",
     .type = VariableType::integer,
     .range = {1, variable_limits::kMostRanks},
     .meaning = "How many ranks were launched together, as tutti launch sets it.",
     .group = VariableGroup::launch,
     .environment_only = true},
    {.id = VariableId::local_core,
     .name = "TUTTI_LOCAL_CORE",
     .type = VariableType::integer,
     .initial = "-1",
     .range = {-1, 65535},
     .meaning = "The processor that this process is bound to, as tutti launch sets it; -1 for none.",
     .group = VariableGroup::launch,
     .environment_only = true},
    {.id = VariableId::unique_id,
     .name = "TUTTI_UNIQUE_ID",
     .type = VariableType::text,
     .meaning = "The secret by which processes that were launched together find each other, as tutti launch sets it.",
     .group = VariableGroup::launch,
     .secret = true,
     .environment_only = true},
});

inline constexpr std::size_t kNumVariables = kVariables.size();

[[nodiscard]] constexpr std::size_t index_of(VariableId id) { return static_cast<std::size_t>(id); }
[[nodiscard]] constexpr const VariableRow& row_of(VariableId id) { return kVariables[index_of(id)]; }

namespace variable_checks {
consteval bool rows_follow_ids() {
  for (std::size_t i = 0; i < kNumVariables; ++i)
    if (index_of(kVariables[i].id) != i) return false;
  return true;
}

consteval bool rows_are_whole() {
  for (const VariableRow& row : kVariables) {
    const bool chooses = row.type == VariableType::choice;
    if (!row.name.starts_with(kVariablePrefix) || !row.meaning.ends_with('.')) return false;
    if (chooses && (row.choices.empty() || row.initial.empty())) return false;
    if (row.prefix.empty() != row.behind.empty() || (!chooses && !row.prefix.empty())) return false;
    if (row.automatic && (!row.is_ranged() || row.range.low <= kAutomatic)) return false;
    if ((row.unlimited && row.type != VariableType::bytes) || row.range.low > row.range.high) return false;
  }
  return true;
}
}  // namespace variable_checks

static_assert(variable_checks::rows_follow_ids(), "the rows of kVariables must stand in the order of VariableId");
static_assert(variable_checks::rows_are_whole(), "a row of kVariables lacks what its type needs");

}  // namespace tutti
