// SPDX-License-Identifier: Apache-2.0
// MPICH's mpirun (hydra), and other launchers that leave PMI_FD open: the id is put and fetched over pmi_wire.hpp.
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.hpp"
#include "runtime/bootstrap/start/numbers.hpp"
#include "runtime/bootstrap/start/pmi_wire.hpp"
#include "runtime/bootstrap/start/way.hpp"

namespace tutti::start {

namespace {

constexpr std::string_view kPmi = "MPICH's PMI";
constexpr std::string_view kKey = "tutti-id";
constexpr std::string_view kNumHere = "MPI_LOCALNRANKS";
constexpr Nanos kFarewell{2'000'000'000};

// Which file a descriptor is, so that it is known again, or not.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  bool socket = false;

  static std::optional<FileIdentity> of(int fd) {
    struct stat found {};
    if (fstat(fd, &found) != 0) return std::nullopt;
    return FileIdentity{found.st_dev, found.st_ino, S_ISSOCK(found.st_mode)};
  }
  bool operator==(const FileIdentity&) const = default;
};

// Hydra takes a process that has said `init` and ends without `finalize` for one that has failed, and hangs up on
// `finalize`. So that is said at the very end, and not at all where MPICH has said it and closed the descriptor.
class Farewell final : public Kept {
 public:
  Farewell(int fd, FileIdentity file) : fd_(fd), file_(file), process_(getpid()) {}
  ~Farewell() override {
    if (getpid() != process_ || FileIdentity::of(fd_) != file_) return;
    const StartOptions options{.late_warning = Nanos(), .timeout = kFarewell};
    Patience patience(options);
    // Nobody is there to hear of an error.
    static_cast<void>(PmiWire(fd_, patience).finalize());
  }

 private:
  const int fd_;
  const FileIdentity file_;
  const pid_t process_;
};

// Where hydra says in a variable how many ranks are here, others say in the store where all are. Rank 0 asks.
Result<bool> span_hosts(PmiWire& wire, std::string_view job, const Environment& environment, const Ranks& ranks) {
  if (ranks.span_hosts || environment.lookup(kNumHere)) return ranks.span_hosts;
  const Result<std::string> mapping = wire.find(job, "PMI_process_mapping");
  if (!mapping.ok()) return mapping.status();
  return names_several_nodes(*mapping);
}

// Slurm's plugin lets one of two speakers begin, and never answers the other. So if an MPI is in the process, the
// descriptor is left to it. Hydra, which may run under srun, says how many ranks are here.
bool belongs_to_mpi_of_slurm(const Environment& environment) {
  if (!environment.lookup("SLURM_STEP_ID") || environment.lookup(kNumHere)) return false;
  const auto is_mpi = [](dl_phdr_info* file, std::size_t, void*) {
    const std::string_view path = file->dlpi_name;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.starts_with("libmpi.so") || name.starts_with("libmpich.so") || name.starts_with("libmpi_") ? 1 : 0;
  };
  return dl_iterate_phdr(is_mpi, nullptr) != 0;
}

Result<UniqueId> exchange(Process& process, PmiWire& wire, const Ranks& ranks) {
  TUTTI_TRY(wire.init());
  TUTTI_TRY_ASSIGN(const std::string job, wire.job_name());
  std::optional<UniqueId> own;
  if (ranks.rank == 0) {
    TUTTI_TRY_ASSIGN(const bool spans_hosts, span_hosts(wire, job, process.environment, ranks));
    TUTTI_TRY_ASSIGN(const UniqueId id, process.make_id({.spans_hosts = spans_hosts}));
    own = id;
    TUTTI_TRY(wire.put(job, kKey, id.to_text()));
  }
  TUTTI_TRY(wire.barrier(
      fmt::format("rank {} of {} waits for all ranks that {} has started", ranks.rank, ranks.num_ranks, kPmi)));
  if (own) return *own;
  TUTTI_TRY_ASSIGN(const std::string text, wire.get(job, kKey));
  Result<UniqueId> id = UniqueId::from_text(text);
  if (!id.ok()) return id.status().with_context(fmt::format("rank 0's {}", kKey));
  return id;
}

}  // namespace

Found by_pmi(Process& process) {
  const Environment& environment = process.environment;
  if (!environment.lookup("PMI_FD")) return nothing();
  TUTTI_TRY_ASSIGN(const std::optional<std::int64_t> fd, number_in(environment, "PMI_FD", {0, 1 << 24}));
  const int descriptor = static_cast<int>(*fd);
  const std::optional<FileIdentity> file = FileIdentity::of(descriptor);
  if (!file || !file->socket) {
    // Inherited by way of something that closes descriptors, so its rank is not this process's either.
    process.remarks.push_back(fmt::format("PMI_FD is {}, which is {}", descriptor,
                                          file ? "no socket" : "not open in this process (any more)"));
    return nothing();
  }
  if (belongs_to_mpi_of_slurm(environment)) {
    process.remarks.push_back(fmt::format("PMI_FD is {}, which Slurm lets MPI alone use", descriptor));
    return nothing();
  }
  const Result<Ranks> ranks =
      ranks_in(environment, {.rank = "PMI_RANK", .num_ranks = "PMI_SIZE", .num_here = kNumHere});
  if (!ranks.ok()) return ranks.status();

  Patience patience(process.options);
  PmiWire wire(descriptor, patience);
  const Result<UniqueId> id = exchange(process, wire, *ranks);
  if (!id.ok()) return id.status().with_context(std::string(kPmi));
  process.kept.push_back(std::make_unique<Farewell>(descriptor, *file));
  return std::optional(Started{ranks->rank, ranks->num_ranks, *id, kPmi});
}

}  // namespace tutti::start
