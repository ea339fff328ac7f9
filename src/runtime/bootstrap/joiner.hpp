// SPDX-License-Identifier: Apache-2.0
// One call of join(), step by step: bootstrap.cpp has the exchange with the rendezvous, joiner_region.cpp the transfer
// of the shared region from a host's leader to the others, joiner_hosts.cpp what several hosts need,
// joiner_tree.cpp what ranks do for others that wait at them.
//
// One owner, which calls run() once; not thread-safe.
#pragma once

#include <cerrno>
#include <chrono>
#include <memory>
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
    if (!done.ok() && !told_) give_up(done);
    flush_down();
    if (done.ok()) return std::move(membership_);
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

  // A rank that waits at this one.
  struct Child {
    int rank = 0;
    UniqueFd socket;
    std::vector<std::byte> in = {};
    std::vector<std::shared_ptr<const std::vector<std::byte>>> out = {};
    std::size_t sent = 0;  // of the first of them

    void send(const std::shared_ptr<const std::vector<std::byte>>& words);
    void flush();
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
    if (is_done) return {.generation = membership_.generation + 1};
    if (!told_) return {attempt_.generation, true};
    return {generation() + 1, attempt_.is_unsure && !has_table_ && !place_};
  }
  // As far as this rank knows: the rendezvous may have moved it.
  [[nodiscard]] std::uint64_t generation() const {
    if (has_table_) return membership_.generation;
    return place_ ? place_->generation : attempt_.generation;
  }
  Status say_hello();
  [[nodiscard]] wire::Hello hello(const Status& refusal) const;
  Status complete(wire::Hello& hello);
  // All have arrived, and the table says where they are.
  Status take_table(const wire::Frame& frame);
  Status take_row(int rank, wire::TableRow& row, const wire::TableRow& own);
  Status listen();
  Status open_transport();
  [[nodiscard]] Result<HostAddresses> own_addresses() const;
  // A leader's: everyone else of its host fetches the region, and the leaders below it come for their links.
  Status hand_out_region();
  Status serve_guests();
  Status serve_guest(Guest& guest);
  Status take_fetch(Guest& guest);
  Status welcome(Guest& guest, const wire::Fetch& fetch);
  Status admit_guests();
  Status admit_far_guests();
  Status drop_a_silent_guest();
  Status link_to_parent();
  Result<bool> await_greeting(int socket);
  // To a rank that listens at one of these, tried in turn, while the rendezvous is listened to.
  Status connect_to_rank(UniqueFd& socket, int rank, std::span<const Address> addresses);
  Status fetch_region();
  Status connect_to_leader();
  [[nodiscard]] std::uint32_t host_of(int rank) const { return membership_.host_of[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool is_leader(int rank) const { return leaders_[host_of(rank)] == rank; }
  // Leaders are a tree, in the order of their hosts, with rank 0 at its root.
  [[nodiscard]] int leader_above(std::uint32_t host) const;
  [[nodiscard]] int leader() const { return leaders_[host_of(request_.rank)]; }
  Status send_all(std::span<const std::byte> bytes);
  void give_up(const Status& why);
  // What the rendezvous says about this error within a while, or the error; none where it turns out that the rank that
  // this one was to wait at had taken it.
  [[nodiscard]] Status hear_why(const Status& error);
  // If this process serves the rendezvous, it may end as soon as it hears of a failure; so the others are told first.
  void wait_for_own_server();

  // Ranks that wait at this one (joiner_tree.cpp).
  [[nodiscard]] bool is_open_to_children() const;
  void poll_tree(std::vector<pollfd>& fds) const;
  [[nodiscard]] Result<int> serve_tree(std::span<const pollfd> fds);
  void hear_guest(Guest& guest);
  [[nodiscard]] Status hear_child(Child& child);
  void say(std::span<const std::byte> words);
  void flush_up();
  void pass_down(const wire::Frame& frame);
  // What children have yet to take, for a while.
  void flush_down();
  Status attach();
  // Whether it waits at parent_ now; else that one has hung up.
  Result<bool> await_parent();
  [[nodiscard]] Status lost_parent();

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

  // How often a rank connects if the rendezvous, or the rank that it is to wait at, hangs up before its answer, and its
  // first pause between attempts, which doubles each time.
  static constexpr int kMostVisits = 8;
  static constexpr std::chrono::milliseconds kFirstPause{1};
  static constexpr std::chrono::milliseconds kRetryConnect{2};  // where a queue of connections is full
  // For a connection to be made at one of several addresses.
  static constexpr std::chrono::milliseconds kAttempt{2500};
  static constexpr std::size_t kMostFarGuests = 64;  // that have not said who they are

  const JoinRequest& request_;
  const JoinOptions& options_;
  const Attempt attempt_;
  const Clock::time_point begun_;
  std::optional<Clock::time_point> deadline_;
  std::optional<Clock::time_point> warn_at_;
  Membership membership_;
  wire::Interfaces interfaces_;  // of its listeners

  UniqueFd server_;     // the rendezvous, or the rank that this one waits at
  UniqueFd parent_;     // that rank, until it has told the rendezvous that this one waits there
  bool heard_ = false;  // something came from the rendezvous
  bool told_ = false;   // the error came from the rendezvous, which knows it
  bool has_said_hello_ = false;
  bool is_unreachable_ = false;  // nobody listens where the rendezvous is to be
  std::vector<std::byte> in_;
  std::string progress_;
  bool has_table_ = false;                   // all ranks have arrived, and what it says is in membership_ and here
  std::string leader_socket_;                // of this host
  std::vector<std::pair<int, pid_t>> near_;  // ranks of this host, and their processes
  bool complete_ = false;

  std::string leader_name_;
  std::string endpoint_name_;
  UniqueFd leader_listener_;
  std::vector<int> leaders_;  // by host
  std::vector<Guest> guests_;
  bool serves_far_guests_ = false;  // leaders of other hosts come for their links

  std::optional<wire::Place> place_;  // where this rank, one of many, is to wait
  bool is_going_ = false;             // there, and server_ is still the rendezvous
  bool is_attached_ = false;          // it waits at another
  bool has_lost_parent_ = false;
  std::vector<Child> children_;
  std::vector<std::byte> up_;  // what is still to go to server_
};

}  // namespace tutti
