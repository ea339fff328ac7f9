#include "peers/registry.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"

namespace tutti::peers {

namespace {

using enum Collective;

// Open MPI 4.1: ompi_info --param coll tuned --level 9.
constexpr auto kOpenMpiConditions = std::to_array<Condition>({{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}});
constexpr auto kOpenMpiVariables = std::to_array<Variable>({
    {all_reduce, "OMPI_MCA_coll_tuned_allreduce_algorithm"},
    {all_gather, "OMPI_MCA_coll_tuned_allgather_algorithm"},
    {reduce_scatter, "OMPI_MCA_coll_tuned_reduce_scatter_block_algorithm"},
    {broadcast, "OMPI_MCA_coll_tuned_bcast_algorithm"},
    {reduce, "OMPI_MCA_coll_tuned_reduce_algorithm"},
    {all_to_all, "OMPI_MCA_coll_tuned_alltoall_algorithm"},
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
    {all_gather, "recursive_doubling", "3"},
    {all_gather, "ring", "4"},
    {all_gather, "neighbor", "5"},
    {all_gather, "two_proc", "6", 2},
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
    {all_to_all, "two_proc", "5", 2},
    {barrier, "linear", "1"},
    {barrier, "double_ring", "2"},
    {barrier, "recursive_doubling", "3"},
    {barrier, "bruck", "4"},
    {barrier, "two_proc", "5", 2},
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
    {barrier, "MPIR_CVAR_BARRIER_INTRA_ALGORITHM"},
});
// The value is the name.
constexpr Algorithm mpich(Collective collective, std::string_view name) { return {collective, name, name}; }
constexpr auto kMpichAlgorithms = std::to_array<Algorithm>({
    mpich(all_reduce, "nb"),
    mpich(all_reduce, "smp"),
    mpich(all_reduce, "recursive_doubling"),
    mpich(all_reduce, "reduce_scatter_allgather"),
    mpich(all_gather, "brucks"),
    mpich(all_gather, "nb"),
    mpich(all_gather, "recursive_doubling"),
    mpich(all_gather, "ring"),
    mpich(reduce_scatter, "recursive_doubling"),
    mpich(reduce_scatter, "pairwise"),
    mpich(reduce_scatter, "recursive_halving"),
    mpich(reduce_scatter, "noncommutative"),
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
    mpich(barrier, "nb"),
    mpich(barrier, "smp"),
    mpich(barrier, "dissemination"),
});

// Not an environment variable of Gloo's, but of its worker's.
constexpr auto kGlooVariables = std::to_array<Variable>({{all_reduce, "TUTTI_GLOO_ALLREDUCE_ALGORITHM"}});
constexpr auto kGlooAlgorithms =
    std::to_array<Algorithm>({{all_reduce, "ring", "ring"}, {all_reduce, "bcube", "bcube"}});

constexpr auto kTuttiVariables = std::to_array<Variable>({{all_reduce, "TUTTI_ALLREDUCE_ALGORITHM"}});
constexpr auto kTuttiAlgorithms = std::to_array<Algorithm>(
    {{all_reduce, "one_shot", "one_shot"}, {all_reduce, "two_shot", "two_shot"}, {all_reduce, "ring", "ring"}});

using harness::Launcher;

constexpr auto kPeers = std::to_array<PeerRow>({
    {.name = "tutti",
     .program = "peer-tutti",
     .launcher = Launcher::local,
     .package = "",
     .conditions = {},
     .variables = kTuttiVariables,
     .algorithms = kTuttiAlgorithms},
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
                fmt::format("there is no peer {}; the nearest is {}", in_quotes(name), nearest_name(name, names)));
}

std::optional<Collective> collective_of(std::string_view variable) {
  for (const PeerRow& peer : kPeers)
    for (const Variable& each : peer.variables)
      if (variable == each.name || variable.starts_with(fmt::format("{}_", each.name))) return each.collective;
  return std::nullopt;
}

std::vector<Algorithm> algorithms_of(const PeerRow& peer, Collective collective) {
  std::vector<Algorithm> algorithms;
  std::copy_if(peer.algorithms.begin(), peer.algorithms.end(), std::back_inserter(algorithms),
               [&](const Algorithm& each) { return each.collective == collective; });
  return algorithms;
}

std::vector<harness::Setting> settings_that_force(const PeerRow& peer, const Algorithm& algorithm) {
  std::vector<harness::Setting> settings;
  for (const Condition& condition : peer.conditions)
    settings.push_back({std::string(condition.name), std::string(condition.value)});
  for (const Variable& variable : peer.variables)
    if (variable.collective == algorithm.collective)
      settings.push_back({std::string(variable.name), std::string(algorithm.value)});
  return settings;
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
