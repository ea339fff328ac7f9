// SPDX-License-Identifier: Apache-2.0
#include "peers/registry.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"

namespace tutti::peers {

namespace {

using enum Collective;
using harness::RanksAllowed;

// Open MPI 4.1: ompi_info --param coll tuned --level 9.
constexpr auto kOpenMpiConditions = std::to_array<Condition>({{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}});
constexpr auto kOpenMpiVariables = std::to_array<Variable>({
    {all_reduce, "OMPI_MCA_coll_tuned_allreduce_algorithm"},
    {all_gather, "OMPI_MCA_coll_tuned_allgather_algorithm"},
    {reduce_scatter, "OMPI_MCA_coll_tuned_reduce_scatter_block_algorithm"},
    {broadcast, "OMPI_MCA_coll_tuned_bcast_algorithm"},
    {reduce, "OMPI_MCA_coll_tuned_reduce_algorithm"},
    {all_to_all, "OMPI_MCA_coll_tuned_alltoall_algorithm"},
    {gather, "OMPI_MCA_coll_tuned_gather_algorithm"},
    {scatter, "OMPI_MCA_coll_tuned_scatter_algorithm"},
    {scan, "OMPI_MCA_coll_tuned_scan_algorithm"},
    {exclusive_scan, "OMPI_MCA_coll_tuned_exscan_algorithm"},
    {barrier, "OMPI_MCA_coll_tuned_barrier_algorithm"},
});
constexpr auto kOpenMpiAlgorithms = std::to_array<Algorithm>({
    {all_reduce, "basic_linear", "1"},
    {all_reduce, "nonoverlapping", "2"},
    {all_reduce, "recursive_doubling", "3"},
    {all_reduce, "ring", "4"},
    {all_reduce, "segmented_ring", "5"},
    {all_reduce, "rabenseifner", "6"},
    {all_gather, "linear", "1"},
    {all_gather, "bruck", "2"},
    {all_gather, "recursive_doubling", "3", RanksAllowed::power_of_two},
    {all_gather, "ring", "4"},
    {all_gather, "neighbor", "5", RanksAllowed::even},
    {all_gather, "two_proc", "6", RanksAllowed::two},
    {reduce_scatter, "basic_linear", "1"},
    {reduce_scatter, "recursive_doubling", "2"},
    {reduce_scatter, "recursive_halving", "3"},
    {reduce_scatter, "butterfly", "4"},
    {broadcast, "basic_linear", "1"},
    {broadcast, "chain", "2"},
    {broadcast, "pipeline", "3"},
    {broadcast, "split_binary_tree", "4"},
    {broadcast, "binary_tree", "5"},
    {broadcast, "binomial", "6"},
    {broadcast, "knomial", "7"},
    {broadcast, "scatter_allgather", "8"},
    {broadcast, "scatter_allgather_ring", "9"},
    {reduce, "linear", "1"},
    {reduce, "chain", "2"},
    {reduce, "pipeline", "3"},
    {reduce, "binary", "4"},
    {reduce, "binomial", "5"},
    {reduce, "in-order_binary", "6"},
    {reduce, "rabenseifner", "7"},
    {all_to_all, "linear", "1"},
    {all_to_all, "pairwise", "2"},
    {all_to_all, "modified_bruck", "3"},
    {all_to_all, "linear_sync", "4"},
    {all_to_all, "two_proc", "5", RanksAllowed::two},
    {gather, "basic_linear", "1"},
    {gather, "binomial", "2"},
    {gather, "linear_sync", "3"},
    {scatter, "basic_linear", "1"},
    {scatter, "binomial", "2"},
    {scatter, "linear_nb", "3"},
    {scan, "linear", "1"},
    {scan, "recursive_doubling", "2"},
    {exclusive_scan, "linear", "1"},
    {exclusive_scan, "recursive_doubling", "2"},
    {barrier, "linear", "1"},
    {barrier, "double_ring", "2"},
    {barrier, "recursive_doubling", "3"},
    {barrier, "bruck", "4"},
    {barrier, "two_proc", "5", RanksAllowed::two},
    {barrier, "tree", "6"},
});

// MPICH 4.0: the descriptions of its control variables. Its device's own collectives would go before them.
constexpr auto kMpichConditions = std::to_array<Condition>({{"MPIR_CVAR_DEVICE_COLLECTIVES", "none"}});
constexpr auto kMpichVariables = std::to_array<Variable>({
    {all_reduce, "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"},
    {all_gather, "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM"},
    {reduce_scatter, "MPIR_CVAR_REDUCE_SCATTER_BLOCK_INTRA_ALGORITHM"},
    {broadcast, "MPIR_CVAR_BCAST_INTRA_ALGORITHM"},
    {reduce, "MPIR_CVAR_REDUCE_INTRA_ALGORITHM"},
    {all_to_all, "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM"},
    {gather, "MPIR_CVAR_GATHER_INTRA_ALGORITHM"},
    {scatter, "MPIR_CVAR_SCATTER_INTRA_ALGORITHM"},
    {scan, "MPIR_CVAR_SCAN_INTRA_ALGORITHM"},
    {exclusive_scan, "MPIR_CVAR_EXSCAN_INTRA_ALGORITHM"},
    {barrier, "MPIR_CVAR_BARRIER_INTRA_ALGORITHM"},
});
// The value is the name.
constexpr Algorithm mpich(Collective collective, std::string_view name, RanksAllowed ranks = RanksAllowed::any) {
  return {collective, name, name, ranks};
}
constexpr auto kMpichAlgorithms = std::to_array<Algorithm>({
    mpich(all_reduce, "nb"),
    mpich(all_reduce, "smp"),
    mpich(all_reduce, "recursive_doubling"),
    mpich(all_reduce, "reduce_scatter_allgather"),
    mpich(all_gather, "brucks"),
    mpich(all_gather, "nb"),
    mpich(all_gather, "recursive_doubling", RanksAllowed::power_of_two),
    mpich(all_gather, "ring"),
    mpich(reduce_scatter, "recursive_doubling"),
    mpich(reduce_scatter, "pairwise"),
    mpich(reduce_scatter, "recursive_halving"),
    mpich(reduce_scatter, "noncommutative", RanksAllowed::power_of_two),
    mpich(reduce_scatter, "nb"),
    mpich(broadcast, "binomial"),
    mpich(broadcast, "nb"),
    mpich(broadcast, "smp"),
    mpich(broadcast, "scatter_recursive_doubling_allgather"),
    mpich(broadcast, "scatter_ring_allgather"),
    mpich(reduce, "binomial"),
    mpich(reduce, "nb"),
    mpich(reduce, "smp"),
    mpich(reduce, "reduce_scatter_gather"),
    mpich(all_to_all, "brucks"),
    mpich(all_to_all, "nb"),
    mpich(all_to_all, "pairwise"),
    mpich(all_to_all, "pairwise_sendrecv_replace"),
    mpich(all_to_all, "scattered"),
    mpich(gather, "binomial"),
    mpich(gather, "nb"),
    mpich(scatter, "binomial"),
    mpich(scatter, "nb"),
    mpich(scan, "nb"),
    mpich(scan, "smp"),
    mpich(scan, "recursive_doubling"),
    mpich(exclusive_scan, "nb"),
    mpich(exclusive_scan, "recursive_doubling"),
    mpich(barrier, "nb"),
    mpich(barrier, "smp"),
    mpich(barrier, "dissemination"),
});

// Not an environment variable of Gloo's, but of its worker's.
constexpr auto kGlooVariables = std::to_array<Variable>({{all_reduce, "TUTTI_GLOO_ALLREDUCE_ALGORITHM"}});
constexpr auto kGlooAlgorithms =
    std::to_array<Algorithm>({{all_reduce, "ring", "ring"}, {all_reduce, "bcube", "bcube"}});

// All but those that need a switch which copies and reduces.
constexpr auto kTuttiVariables = std::to_array<Variable>({{all_reduce, "TUTTI_ALLREDUCE_ALGORITHM"},
                                                          {all_gather, "TUTTI_ALLGATHER_ALGORITHM"},
                                                          {reduce_scatter, "TUTTI_REDUCESCATTER_ALGORITHM"},
                                                          {broadcast, "TUTTI_BROADCAST_ALGORITHM"},
                                                          {reduce, "TUTTI_REDUCE_ALGORITHM"},
                                                          {all_to_all, "TUTTI_ALLTOALL_ALGORITHM"},
                                                          {gather, "TUTTI_GATHER_ALGORITHM"},
                                                          {scatter, "TUTTI_SCATTER_ALGORITHM"},
                                                          {scan, "TUTTI_SCAN_ALGORITHM"},
                                                          {exclusive_scan, "TUTTI_EXSCAN_ALGORITHM"},
                                                          {barrier, "TUTTI_BARRIER_ALGORITHM"}});
constexpr Algorithm tutti_way(Collective collective, std::string_view name) { return {collective, name, name}; }
constexpr auto kTuttiAlgorithms = std::to_array<Algorithm>({tutti_way(all_reduce, "one_shot"),
                                                            tutti_way(all_reduce, "two_shot"),
                                                            tutti_way(all_reduce, "two_shot_pull"),
                                                            tutti_way(all_reduce, "two_shot_few"),
                                                            tutti_way(all_reduce, "ring"),
                                                            tutti_way(all_reduce, "ring_bidirectional"),
                                                            tutti_way(all_reduce, "ring_bidir_ag"),
                                                            tutti_way(all_reduce, "recursive_doubling"),
                                                            tutti_way(all_reduce, "recursive_multiplying"),
                                                            tutti_way(all_reduce, "rabenseifner"),
                                                            tutti_way(all_reduce, "reduce_broadcast"),
                                                            tutti_way(all_reduce, "double_binary_tree"),
                                                            tutti_way(all_reduce, "swing"),
                                                            tutti_way(all_reduce, "bucket_2d"),
                                                            tutti_way(all_reduce, "bucket_3d"),
                                                            tutti_way(all_reduce, "bucket_mesh"),
                                                            tutti_way(all_reduce, "hierarchical"),
                                                            tutti_way(all_reduce, "centre"),
                                                            tutti_way(all_gather, "direct"),
                                                            tutti_way(all_gather, "ring"),
                                                            tutti_way(all_gather, "ring_bidirectional"),
                                                            tutti_way(all_gather, "neighbour_exchange"),
                                                            tutti_way(all_gather, "recursive_doubling"),
                                                            tutti_way(all_gather, "bruck"),
                                                            tutti_way(all_gather, "pat"),
                                                            tutti_way(reduce_scatter, "direct"),
                                                            tutti_way(reduce_scatter, "ring"),
                                                            tutti_way(reduce_scatter, "recursive_halving"),
                                                            tutti_way(reduce_scatter, "pat"),
                                                            tutti_way(broadcast, "direct"),
                                                            tutti_way(broadcast, "push_pull"),
                                                            tutti_way(broadcast, "knomial"),
                                                            tutti_way(broadcast, "chain"),
                                                            tutti_way(broadcast, "scatter_all_gather"),
                                                            tutti_way(reduce, "direct"),
                                                            tutti_way(reduce, "push_pull"),
                                                            tutti_way(reduce, "knomial"),
                                                            tutti_way(reduce, "chain"),
                                                            tutti_way(all_to_all, "direct"),
                                                            tutti_way(all_to_all, "pairwise"),
                                                            tutti_way(all_to_all, "bruck"),
                                                            tutti_way(gather, "linear"),
                                                            tutti_way(gather, "knomial"),
                                                            tutti_way(scatter, "linear"),
                                                            tutti_way(scatter, "knomial"),
                                                            tutti_way(scan, "linear"),
                                                            tutti_way(scan, "recursive_doubling"),
                                                            tutti_way(exclusive_scan, "linear"),
                                                            tutti_way(exclusive_scan, "recursive_doubling"),
                                                            tutti_way(barrier, "direct"),
                                                            tutti_way(barrier, "dissemination")});

// Of those, what devices do: algorithms of direct steps, of the collectives in device.h. The variable has the
// collective in its value. Algorithms that store to other ranks want symmetric memory, and are skipped in other.
constexpr auto kTuttiDeviceVariables = std::to_array<Variable>({{all_reduce, "TUTTI_DEVICE_ALGORITHM"},
                                                                {all_gather, "TUTTI_DEVICE_ALGORITHM"},
                                                                {reduce_scatter, "TUTTI_DEVICE_ALGORITHM"},
                                                                {broadcast, "TUTTI_DEVICE_ALGORITHM"},
                                                                {reduce, "TUTTI_DEVICE_ALGORITHM"},
                                                                {all_to_all, "TUTTI_DEVICE_ALGORITHM"}});
// The value ends in the name.
constexpr Algorithm on_device(Collective collective, std::string_view value) {
  return {collective, value.substr(value.find('=') + 1), value};
}
constexpr auto kTuttiDeviceAlgorithms = std::to_array<Algorithm>({
    on_device(all_reduce, "all_reduce=one_shot"),
    on_device(all_reduce, "all_reduce=two_shot"),
    on_device(all_reduce, "all_reduce=two_shot_pull"),
    on_device(all_reduce, "all_reduce=two_shot_few"),
    on_device(all_gather, "all_gather=direct"),
    on_device(reduce_scatter, "reduce_scatter=direct"),
    on_device(broadcast, "broadcast=direct"),
    on_device(broadcast, "broadcast=push_pull"),
    on_device(reduce, "reduce=direct"),
    on_device(reduce, "reduce=push_pull"),
    on_device(all_to_all, "all_to_all=direct"),
});

// NCCL 2.28 and RCCL, which has taken these from it: which algorithms do a collective, and that all but ring and tree
// have one protocol. Where one is not to be had (no NVLink switch, no SHARP) they refuse it, and the case is skipped.
constexpr auto kNcclVariables = std::to_array<Variable>({{all_reduce, "NCCL_ALGO"},
                                                         {all_gather, "NCCL_ALGO"},
                                                         {reduce_scatter, "NCCL_ALGO"},
                                                         {broadcast, "NCCL_ALGO"},
                                                         {reduce, "NCCL_ALGO"}});
constexpr auto kLl = std::to_array<Condition>({{"NCCL_PROTO", "LL"}});
constexpr auto kLl128 = std::to_array<Condition>({{"NCCL_PROTO", "LL128"}});
constexpr auto kSimple = std::to_array<Condition>({{"NCCL_PROTO", "Simple"}});
constexpr auto kCollnet = std::to_array<Condition>({{"NCCL_PROTO", "Simple"}, {"NCCL_COLLNET_ENABLE", "1"}});
constexpr Algorithm nccl(Collective collective, std::string_view name, std::string_view value,
                         std::span<const Condition> also) {
  return {collective, name, value, RanksAllowed::any, also};
}
constexpr auto kNcclAlgorithms = std::to_array<Algorithm>({
    nccl(all_reduce, "ring_ll", "Ring", kLl),
    nccl(all_reduce, "ring_ll128", "Ring", kLl128),
    nccl(all_reduce, "ring_simple", "Ring", kSimple),
    nccl(all_reduce, "tree_ll", "Tree", kLl),
    nccl(all_reduce, "tree_ll128", "Tree", kLl128),
    nccl(all_reduce, "tree_simple", "Tree", kSimple),
    nccl(all_reduce, "collnet_direct", "CollnetDirect", kCollnet),
    nccl(all_reduce, "collnet_chain", "CollnetChain", kCollnet),
    nccl(all_reduce, "nvls", "NVLS", kSimple),
    nccl(all_reduce, "nvls_tree", "NVLSTree", kSimple),
    nccl(all_gather, "ring_ll", "Ring", kLl),
    nccl(all_gather, "ring_ll128", "Ring", kLl128),
    nccl(all_gather, "ring_simple", "Ring", kSimple),
    nccl(all_gather, "collnet_direct", "CollnetDirect", kCollnet),
    nccl(all_gather, "nvls", "NVLS", kSimple),
    nccl(all_gather, "pat", "PAT", kSimple),
    nccl(reduce_scatter, "ring_ll", "Ring", kLl),
    nccl(reduce_scatter, "ring_ll128", "Ring", kLl128),
    nccl(reduce_scatter, "ring_simple", "Ring", kSimple),
    nccl(reduce_scatter, "collnet_direct", "CollnetDirect", kCollnet),
    nccl(reduce_scatter, "nvls", "NVLS", kSimple),
    nccl(reduce_scatter, "pat", "PAT", kSimple),
    nccl(broadcast, "ring_ll", "Ring", kLl),
    nccl(broadcast, "ring_ll128", "Ring", kLl128),
    nccl(broadcast, "ring_simple", "Ring", kSimple),
    nccl(reduce, "ring_ll", "Ring", kLl),
    nccl(reduce, "ring_ll128", "Ring", kLl128),
    nccl(reduce, "ring_simple", "Ring", kSimple),
});

using harness::Launcher;

constexpr PeerRow like_nccl(std::string_view name, std::string_view program) {
  return {.name = name,
          .program = program,
          .launcher = Launcher::local,
          .package = "",
          .conditions = {},
          .variables = kNcclVariables,
          .algorithms = kNcclAlgorithms,
          .is_bound = false,  // their threads seek cores near the device
          .is_probed = true};
}

constexpr auto kPeers = std::to_array<PeerRow>({
    {.name = "tutti",
     .program = "peer-tutti",
     .launcher = Launcher::local,
     .package = "",
     .conditions = {},
     .variables = kTuttiVariables,
     .algorithms = kTuttiAlgorithms},
    {.name = "tutti_device",
     .program = "peer-tutti_device",
     .launcher = Launcher::local,
     .package = "",
     .conditions = {},
     .variables = kTuttiDeviceVariables,
     .algorithms = kTuttiDeviceAlgorithms,
     .is_bound = false,  // as NCCL's ranks, with which it is compared
     .is_probed = true},
    {.name = "openmpi",
     .program = "peer-openmpi",
     .launcher = Launcher::openmpi,
     .package = "libopenmpi-dev",
     .conditions = kOpenMpiConditions,
     .variables = kOpenMpiVariables,
     .algorithms = kOpenMpiAlgorithms},
    {.name = "mpich",
     .program = "peer-mpich",
     .launcher = Launcher::mpich,
     .package = "libmpich-dev",
     .conditions = kMpichConditions,
     .variables = kMpichVariables,
     .algorithms = kMpichAlgorithms},
    {.name = "gloo",
     .program = "peer-gloo",
     .launcher = Launcher::local,
     .package = "libgloo-dev",
     .conditions = {},
     .variables = kGlooVariables,
     .algorithms = kGlooAlgorithms},
    like_nccl("nccl", "peer-nccl"),
    like_nccl("rccl", "peer-rccl"),
    {.name = "null",
     .program = "peer-null",
     .launcher = Launcher::local,
     .package = "",
     .conditions = {},
     .variables = {},
     .algorithms = {}},
});

bool is_runnable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

std::span<const PeerRow> all_peers() { return kPeers; }

Result<const PeerRow*> find_peer(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PeerRow& peer : kPeers) {
    if (same_name(peer.name, name)) return &peer;
    names.push_back(peer.name);
  }
  return Status(Code::invalid_argument,
                fmt::format("there is no peer {}{}", in_quotes(name), nearest_hint(name, names)));
}

std::vector<Collective> collectives_of(std::string_view variable) {
  std::vector<Collective> found;
  for (const PeerRow& peer : kPeers)
    for (const Variable& each : peer.variables) {
      const bool is_named = variable == each.name || variable.starts_with(fmt::format("{}_", each.name));
      if (is_named && std::find(found.begin(), found.end(), each.collective) == found.end())
        found.push_back(each.collective);
    }
  return found;
}

std::vector<harness::ForcedAlgorithm> algorithms_of(const PeerRow& peer, Collective collective) {
  const auto variable = std::find_if(peer.variables.begin(), peer.variables.end(),
                                     [&](const Variable& each) { return each.collective == collective; });
  std::vector<harness::ForcedAlgorithm> algorithms;
  for (const Algorithm& algorithm : peer.algorithms) {
    if (algorithm.collective != collective || variable == peer.variables.end()) continue;
    harness::ForcedAlgorithm& forced = algorithms.emplace_back();
    forced.name = algorithm.name;
    forced.ranks = algorithm.ranks;
    const auto add = [&](std::string_view name, std::string_view value) {
      forced.settings.push_back({std::string(name), std::string(value)});
    };
    for (const Condition& condition : peer.conditions) add(condition.name, condition.value);
    add(variable->name, algorithm.value);
    for (const Condition& condition : algorithm.also) add(condition.name, condition.value);
  }
  return algorithms;
}

Result<std::string> worker_folder() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return Status::from_errno("cannot tell where this program lies", errno);
  std::string folder(path.data(), static_cast<std::size_t>(length));
  folder.erase(folder.rfind('/'));
  for (const std::string_view between : {"", "/.."}) {
    const std::string candidate = fmt::format("{}{}/{}", folder, between, TUTTI_WORKER_DIR);
    if (is_runnable(candidate)) return candidate;
  }
  return Status(Code::unsupported,
                fmt::format("no peers are here: there is neither {0}/{1} nor {0}/../{1}", folder, TUTTI_WORKER_DIR));
}

Result<std::string> worker_of(const PeerRow& peer, const std::string& folder) {
  std::string path = fmt::format("{}/{}", folder, peer.program);
  if (is_runnable(path)) return path;
  if (peer.package.empty())
    return Status(
        Code::unsupported,
        fmt::format("peer {} is not here: there is no program {}; build the target tutti_workers", peer.name, path));
  return Status(Code::unsupported,
                fmt::format("peer {} is not here; it comes with Debian's {}, and is built where that is installed",
                            peer.name, peer.package));
}

}  // namespace tutti::peers
