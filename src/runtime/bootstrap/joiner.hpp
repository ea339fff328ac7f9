// SPDX-License-Identifier: Apache-2.0
// One call of join(), step by step: bootstrap.cpp has the exchange with the rendezvous, joiner_region.cpp the transfer
// of the shared region from a host's leader to the others, joiner_hosts.cpp what several hosts need.
//
// One owner, which calls run() once; not thread-safe.
#pragma once

#include <cerrno>
#include <chrono>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "base/status.hpp"
#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "runtime/bootstrap/bootstrap.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {

class Joiner {
 public:
  Joiner(const JoinRequest& request, const JoinOptions& options)
      : request_(request),
        options_(options),
        attempt_(request.attempt == nullptr ? Attempt() : *request.attempt),
        begun_(Clock::now()) {
    if (options.timeout > Nanos()) deadline_ = begun_ + to_chrono(options.timeout);
    if (options.late_warning > Nanos()) warn_at_ = begun_ + to_chrono(options.late_warning);
    membership_.links.rank = request.rank;
    membership_.links.num_ranks = request.num_ranks;
  }

  Result<Membership> run() {
    const Status done = join_with_memory();
    if (request_.attempt != nullptr) *request_.attempt = next_attempt(done.ok());
    if (done.ok()) return std::move(membership_);
    if (!told_) give_up(done);
    return done;
  }

 private:
  // A connection to this leader that has not said yet whose it is.
  struct Guest {
    pid_t pid = 0;
    UniqueFd socket;
    UniqueFd pidfd;
    bool is_far = false;
    std::vector<std::byte> in = {};
  };

  Status join_all();
  Status join_with_memory() {
    try {
      return join_all();
    } catch (const std::bad_alloc&) {
      return Status::from_errno("there is no memory to join the communicator", ENOMEM);
    }
  }
  // Until all ranks have arrived and agree.
  Status meet_all();
  [[nodiscard]] Status unheard() const;
  Status visit_server();
  Status connect_to_server();
  [[nodiscard]] Status unreachable(const Status& why);
  // What this rank's next attempt is to be.
  [[nodiscard]] Attempt next_attempt(bool is_done) const {
    if (is_done) return {.generation = table_->generation + 1};
    return told_ ? Attempt{attempt_.generation + 1, attempt_.is_unsure} : Attempt{attempt_.generation, true};
  }
  Status say_hello();
  [[nodiscard]] wire::Hello hello(const Status& refusal) const;
  Status complete(wire::Hello& hello);
  // Where all are, as the table says.
  Status find_hosts();
  Status listen();
  Status open_transport();
  [[nodiscard]] Result<std::vector<Address>> own_addresses() const;
  // A leader's: everyone else of its host fetches the region, and rank 0 has a link to every other leader.
  Status hand_out_region();
  Status serve_guests();
  Status serve_guest(Guest& guest);
  Status welcome(Guest& guest, const wire::Fetch& fetch);
  Status admit_guests();
  Status admit_far_guests();
  Status link_to_root();
  Status begin_link_to_root(UniqueFd& socket, std::size_t attempt);
  Status fetch_region();
  Status connect_to_leader();
  [[nodiscard]] std::uint32_t host_of(int rank) const { return table_->ranks[static_cast<std::size_t>(rank)].host; }
  [[nodiscard]] bool is_leader(int rank) const { return leaders_[host_of(rank)] == rank; }
  [[nodiscard]] int leader() const { return leaders_[host_of(request_.rank)]; }
  Status send_all(std::span<const std::byte> bytes);
  void give_up(const Status& why);
  // If this process serves the rendezvous, it may end as soon as it hears of a failure; so the others are told first.
  void wait_for_own_server();

  // Sleeps until one of `fds` is ready, or `wake` has come. Warns meanwhile, and ends at the deadline.
  Status wait(std::vector<pollfd>& fds, std::optional<Clock::time_point> wake = {});
  Status pause(std::chrono::milliseconds time) {
    std::vector<pollfd> none;
    return wait(none, Clock::now() + time);
  }
  Status wait_for_server();
  // Takes in what the rendezvous has sent; the error is the one that it sends to all.
  Status hear_server();
  Status obey(const wire::Frame& frame);
  [[nodiscard]] Status ask_whether_in_vain() const { return options_.in_vain ? options_.in_vain() : Status(); }
  void warn_if_late(Clock::time_point now);
  [[nodiscard]] Status late() const;
  [[nodiscard]] std::string progress() const;
  [[nodiscard]] std::string stopped_rank() const;
  void reached(JoinStage stage) const {
    if (options_.on_stage) options_.on_stage(stage);
  }

  static constexpr std::chrono::milliseconds kRetryConnect{2};  // where a queue of connections is full
  // How long the rendezvous has for its explanation after rank 0 has hung up.
  static constexpr std::chrono::milliseconds kExplanationTime{500};
  static constexpr std::size_t kMostFarGuests = 64;  // that have not said who they are

  const JoinRequest& request_;
  const JoinOptions& options_;
  const Attempt attempt_;
  const Clock::time_point begun_;
  std::optional<Clock::time_point> deadline_;
  std::optional<Clock::time_point> warn_at_;
  Membership membership_;

  UniqueFd server_;
  bool heard_ = false;  // something came from the rendezvous
  bool told_ = false;   // the error came from the rendezvous, which knows it
  bool has_said_hello_ = false;
  bool is_unreachable_ = false;  // nobody listens where the rendezvous is to be
  std::vector<std::byte> in_;
  std::string progress_;
  std::optional<wire::Table> table_;
  bool complete_ = false;

  std::string leader_name_;
  std::string endpoint_name_;
  UniqueFd leader_listener_;
  std::vector<int> leaders_;  // by host
  std::vector<Guest> guests_;
};

}  // namespace tutti
