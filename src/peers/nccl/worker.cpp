// SPDX-License-Identifier: Apache-2.0
// The worker of NCCL and, built for AMD, of RCCL. It is built without either: both are opened when it begins, and so is
// the device's platform.
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/variables/environment.hpp"
#include "peers/meeting.hpp"
#include "peers/nccl/call.hpp"
#include "peers/nccl/library.hpp"
#include "peers/nccl/log.hpp"
#include "peers/peer.hpp"
#include "peers/probe.hpp"

namespace tutti::peers::nccl {

namespace {

#if defined(TUTTI_PEER_RCCL)
constexpr const Vendor& kVendor = kAmd;
#else
constexpr const Vendor& kVendor = kNvidia;
#endif

class NcclPeer final : public Peer {
 public:
  explicit NcclPeer(const Environment& environment) : environment_(environment) {}

  Status begin(int rank, int num_ranks) override {
    log_.begin(settings(), environment_);
    TUTTI_TRY_ASSIGN(library_, Library::open(kVendor));
    TUTTI_TRY_ASSIGN(device_, on_device::Device::open(kVendor.platform));
    const int num_here = hosts() ? hosts()->num_here : num_ranks;
    const int place = hosts() ? hosts()->place : rank;
    if (num_here > device_->count())
      return {Code::unsupported, fmt::format("{} ranks want a device each, and there are {}: {} takes no two ranks on "
                                             "one",
                                             num_here, device_->count(), kVendor.name)};
    TUTTI_TRY(device_->use(place));
    TUTTI_TRY_ASSIGN(device_name_, device_->name(place));
    return join(rank, num_ranks);
  }
  [[nodiscard]] int rank() const override { return rank_->rank; }
  [[nodiscard]] int num_ranks() const override { return rank_->num_ranks; }
  [[nodiscard]] std::string version() const override { return fmt::format("{}, {}", library_.name, device_name_); }
  void end() override { static_cast<void>(library_.comm_destroy(rank_->comm)); }

  Result<Operation> prepare(const Request& request) override { return to_nccl(request, *rank_); }

  [[nodiscard]] harness::Evidence evidence(const harness::Setting& setting) const override {
    return evidence_in(log_.text(), setting, library_.version);
  }

 private:
  Status join(int rank, int num_ranks) {
    if (hosts()) {
      TUTTI_TRY_ASSIGN(meeting_, Meeting::join(*hosts(), rank));
    } else {
      TUTTI_TRY_ASSIGN(meeting_, Meeting::join(environment_, rank));
    }
    const std::string key = "unique id";
    UniqueId id{};
    if (rank == 0) {
      TUTTI_TRY(library_.status_of(library_.get_unique_id(&id), "ncclGetUniqueId", nullptr));
      TUTTI_TRY(meeting_->put(key, {id.internal, sizeof(id.internal)}));
    }
    TUTTI_TRY_ASSIGN(const std::string told, meeting_->get(key));
    if (told.size() != sizeof(id.internal)) return {Code::internal, "rank 0 told an id of another length"};
    told.copy(id.internal, sizeof(id.internal));
    Comm* comm = nullptr;
    TUTTI_TRY(library_.status_of(library_.comm_init_rank(&comm, num_ranks, id, rank), "ncclCommInitRank", nullptr));
    int its_rank = -1;
    int its_num_ranks = 0;
    TUTTI_TRY(library_.status_of(library_.comm_user_rank(comm, &its_rank), "ncclCommUserRank", comm));
    TUTTI_TRY(library_.status_of(library_.comm_count(comm, &its_num_ranks), "ncclCommCount", comm));
    TUTTI_TRY_ASSIGN(const on_device::Queue queue, on_device::Queue::make(*device_));
    const bool is_forced = environment_.lookup("NCCL_ALGO") || environment_.lookup("NCCL_PROTO");
    rank_.emplace(Rank{.library = library_,
                       .queue = queue,
                       .comm = comm,
                       .rank = its_rank,
                       .num_ranks = its_num_ranks,
                       .is_forced = is_forced});
    return {};
  }

  const Environment& environment_;
  Log log_;
  Library library_;
  std::unique_ptr<on_device::Device> device_;
  std::string device_name_;
  std::unique_ptr<Meeting> meeting_;
  std::optional<Rank> rank_;
};

// Says what is here, or what is missing.
Result<std::string> look_around() {
  TUTTI_TRY_ASSIGN(const Library library, Library::open(kVendor));
  TUTTI_TRY_ASSIGN(const std::unique_ptr<on_device::Device> device, on_device::Device::open(kVendor.platform));
  TUTTI_TRY_ASSIGN(const std::string devices, device->summary());
  return fmt::format("{}, {}", library.name, devices);
}

}  // namespace

}  // namespace tutti::peers::nccl

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == tutti::peers::kProbeOption)
    return tutti::peers::answer_probe(tutti::peers::nccl::look_around());
  const tutti::Environment environment = tutti::Environment::of_this_process();
  tutti::peers::nccl::NcclPeer peer(environment);
  return tutti::peers::run_worker(peer, environment);
}
