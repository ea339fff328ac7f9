#include "runtime/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process_state.hpp"
#include "base/socket.hpp"
#include "runtime/descriptors.hpp"
#include "runtime/rendezvous.hpp"
#include "runtime/wire.hpp"
#include "transport/shm/region.hpp"

namespace tutti {
namespace {

constexpr int kBusyPollMs = 1;                              // where there is something else to go on with
constexpr std::chrono::milliseconds kBetweenQuestions{20};  // whether it is in vain
constexpr std::chrono::milliseconds kRetryConnect{2};       // where rank 0's queue of connections is full
// How long the rendezvous has for its explanation after rank 0 has hung up.
constexpr std::chrono::milliseconds kExplanationTime{500};

Status check(const JoinRequest& request) {
  if (request.num_ranks < 1 || request.num_ranks > kMostRanksOnHost) {
    return {Code::invalid_argument,
            fmt::format("the number of ranks is {}; 1 to {} can be", request.num_ranks, kMostRanksOnHost)};
  }
  if (request.rank < 0 || request.rank >= request.num_ranks) {
    return {Code::invalid_argument, fmt::format("the rank is {}; of {} ranks it can be 0 to {}", request.rank,
                                                request.num_ranks, request.num_ranks - 1)};
  }
  if (request.configuration.size() > wire::kMostConfigurationBytes) {
    return {Code::invalid_argument, fmt::format("the configuration has {} bytes; {} is the most",
                                                request.configuration.size(), wire::kMostConfigurationBytes)};
  }
  return {};
}

Status check_region(int region, Bytes bytes) {
  struct stat found {};
  if (fstat(region, &found) != 0) return Status::from_errno("cannot look at the shared region", errno);
  if (static_cast<std::uint64_t>(found.st_size) != bytes.value()) {
    return {Code::internal,
            fmt::format("rank 0 made a shared region of {}, and this rank needs {}",
                        to_text(Bytes(static_cast<std::uint64_t>(found.st_size))), to_text(bytes)),
            0};
  }
  if ((fcntl(region, F_GET_SEALS) & F_SEAL_SHRINK) == 0) return {Code::internal, "the shared region is not sealed", 0};
  return {};
}

// One call of join().
class Joiner {
 public:
  Joiner(const JoinRequest& request, const JoinOptions& options)
      : request_(request), options_(options), begun_(Clock::now()) {
    if (options.timeout > Nanos()) deadline_ = begun_ + to_chrono(options.timeout);
    if (options.late_warning > Nanos()) warn_at_ = begun_ + to_chrono(options.late_warning);
    membership_.links.rank = request.rank;
    membership_.links.num_ranks = request.num_ranks;
  }

  Result<Membership> run() {
    const Status done = join_with_memory();
    if (done.ok()) return std::move(membership_);
    if (!told_) give_up(done);
    return done;
  }

 private:
  // A connection to rank 0 that has not said yet whose it is.
  struct Guest {
    pid_t pid = 0;
    UniqueFd socket;
    UniqueFd pidfd;
  };

  Status join_all();
  Status join_with_memory() {
    try {
      return join_all();
    } catch (const std::bad_alloc&) {
      return Status::from_errno("there is no memory to join with", ENOMEM);
    }
  }
  Status connect_to_server();
  Status say_hello();
  [[nodiscard]] wire::Hello hello(const Status& refusal) const;
  Status complete(wire::Hello& hello);
  Status hand_out_region();
  Status serve_guest(Guest& guest);
  Status admit_guests();
  Status fetch_region();
  Status connect_to_leader();
  Status send_all(std::span<const std::byte> bytes);
  void give_up(const Status& why);

  // Sleeps until one of `fds` is ready, or `wake` has come. Warns meanwhile, and ends at the deadline.
  Status wait(std::vector<pollfd>& fds, std::optional<Clock::time_point> wake = {});
  Status wait_for_server();
  // Takes in what the rendezvous has sent; the error is the one that it sends to all.
  Status hear_server();
  Status obey(const wire::Frame& frame);
  [[nodiscard]] Status ask_whether_in_vain() const { return options_.in_vain ? options_.in_vain() : Status(); }
  void warn_if_late(Clock::time_point now);
  [[nodiscard]] Status late() const;
  [[nodiscard]] std::string stopped_rank() const;
  void reached(JoinStage stage) const {
    if (options_.on_stage) options_.on_stage(stage);
  }

  const JoinRequest& request_;
  const JoinOptions& options_;
  const Clock::time_point begun_;
  std::optional<Clock::time_point> deadline_;
  std::optional<Clock::time_point> warn_at_;
  Membership membership_;

  UniqueFd server_;
  bool told_ = false;  // the error came from the rendezvous, which knows it
  bool has_said_hello_ = false;
  bool is_unreachable_ = false;  // nobody listens where the rendezvous is to be
  std::vector<std::byte> in_;
  std::string progress_;
  std::optional<wire::Table> table_;
  bool complete_ = false;

  std::string leader_name_;
  UniqueFd leader_listener_;
  std::vector<Guest> guests_;
};

Status Joiner::join_all() {
  TUTTI_TRY(connect_to_server());
  reached(JoinStage::connected);
  TUTTI_TRY(say_hello());
  reached(JoinStage::hello_sent);
  while (!table_) TUTTI_TRY(wait_for_server());
  if (table_->pids.size() != static_cast<std::size_t>(request_.num_ranks)) {
    return {Code::internal, "the rendezvous sent a table of another number of ranks"};
  }
  reached(JoinStage::table_received);
  TUTTI_TRY(request_.rank == 0 ? hand_out_region() : fetch_region());
  reached(JoinStage::region_received);
  if (request_.prepare) TUTTI_TRY(request_.prepare(membership_));
  TUTTI_TRY(send_all(wire::encode(wire::FrameType::ready)));
  while (!complete_) TUTTI_TRY(wait_for_server());
  reached(JoinStage::complete);
  return {};
}

Status Joiner::connect_to_server() {
  const auto unreachable = [this](const Status& why) -> Status {
    is_unreachable_ = true;
    TUTTI_TRY(ask_whether_in_vain());
    return why.with_context(
        fmt::format("nobody answers at {}, where the id says that the ranks meet; the process that "
                    "made the id has ended, or all its communicators were made",
                    to_text(request_.id.address())));
  };
  Result<UniqueFd> socket = make_tcp_socket(request_.id.address());
  if (!socket.ok()) return socket.status().with_context("cannot meet the other ranks");
  if (const Status begun = begin_connect(socket->get(), request_.id.address()); !begun.ok()) return unreachable(begun);
  server_ = std::move(*socket);
  std::vector<pollfd> fds = {{server_.get(), POLLOUT, 0}};
  TUTTI_TRY(wait(fds));
  const Status outcome = connect_outcome(server_.get());
  if (!outcome.ok()) {
    server_.reset();
    return unreachable(outcome);
  }
  return {};
}

Status Joiner::say_hello() {
  wire::Hello hello = this->hello(request_.refusal);
  if (request_.refusal.ok()) TUTTI_TRY(complete(hello));
  const std::vector<std::byte> bytes = wire::encode(hello, request_.id.token());
  has_said_hello_ = true;
  return send_all(bytes);
}

// What also a rank can say that has come to nothing.
wire::Hello Joiner::hello(const Status& refusal) const {
  wire::Hello hello;
  hello.generation = request_.generation;
  hello.rank = request_.rank;
  hello.num_ranks = request_.num_ranks;
  hello.pid = getpid();
  hello.refusal = refusal;
  return hello;
}

Status Joiner::complete(wire::Hello& hello) {
  Result<wire::Host> host = wire::this_host();
  if (!host.ok()) return host.status();
  hello.host = std::move(*host);
  hello.configuration = request_.configuration;
  if (request_.rank == 0) {
    // A name that nobody can guess, and so nobody can have taken.
    Result<Token> random = make_token();
    if (!random.ok()) return random.status();
    leader_name_ = "tutti-";
    for (std::size_t i = 0; i < 16; ++i) leader_name_ += fmt::format("{:02x}", std::to_integer<unsigned>((*random)[i]));
    Result<UniqueFd> listener = listen_abstract(leader_name_, SOMAXCONN);
    if (!listener.ok()) return listener.status();
    leader_listener_ = std::move(*listener);
    hello.leader_socket = leader_name_;
  }
  return {};
}

// Rank 0: everyone else fetches the region, in any order. Who does not know the token or is another user is sent away.
Status Joiner::hand_out_region() {
  Result<UniqueFd> region = shm::make_memory(request_.region_bytes(request_.num_ranks).value());
  if (!region.ok()) return region.status();
  membership_.region = std::move(*region);
  const auto others = static_cast<std::size_t>(request_.num_ranks - 1);
  while (membership_.links.peers.size() < others) {
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {leader_listener_.get(), POLLIN, 0}};
    for (const Guest& guest : guests_) fds.push_back({guest.socket.get(), POLLIN, 0});
    TUTTI_TRY(wait(fds));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
    for (std::size_t i = 0; i + 2 < fds.size(); ++i) {
      if (fds[i + 2].revents != 0) TUTTI_TRY(serve_guest(guests_[i]));
    }
    std::erase_if(guests_, [](const Guest& guest) { return !guest.socket.valid(); });
    if (fds[1].revents != 0) TUTTI_TRY(admit_guests());
  }
  std::sort(membership_.links.peers.begin(), membership_.links.peers.end(),
            [](const RankLink& a, const RankLink& b) { return a.rank < b.rank; });
  leader_listener_.reset();
  guests_.clear();
  return {};
}

Status Joiner::admit_guests() {
  for (;;) {
    Result<UniqueFd> socket = accept_from(leader_listener_.get());
    if (!socket.ok()) return socket.status();
    if (!socket->valid()) return {};
    Result<PeerCredentials> who = peer_credentials(socket->get());
    if (!who.ok() || who->uid != geteuid()) continue;
    // The pidfd is made before the guest has its answer, so the guest is still alive and the pid is still its own.
    guests_.push_back({who->pid, std::move(*socket), open_pidfd(who->pid)});
  }
}

Status Joiner::serve_guest(Guest& guest) {
  std::array<std::byte, wire::kFetchBytes + 1> bytes{};
  const SocketTransfer got = receive_some(guest.socket.get(), bytes);
  if (got.outcome == SocketTransfer::Outcome::would_block) return {};
  const auto fetch = wire::parse_fetch(std::span(bytes).first(got.bytes), request_.id.token());
  const auto& peers = membership_.links.peers;
  const bool welcome = fetch && fetch->generation == request_.generation && fetch->rank > 0 &&
                       fetch->rank < static_cast<std::uint32_t>(request_.num_ranks) &&
                       std::none_of(peers.begin(), peers.end(), [&fetch](const RankLink& link) {
                         return link.rank == static_cast<int>(fetch->rank);
                       });
  if (!welcome) {
    guest.socket.reset();
    return {};
  }
  const std::array<std::byte, 1> greeting{};
  const SocketTransfer sent = send_with_fd(guest.socket.get(), greeting, membership_.region.get());
  if (sent.outcome == SocketTransfer::Outcome::would_block) {
    return {Code::system, "cannot hand over the shared region: too many descriptors are under way"};
  }
  // Where the guest is gone the rendezvous will say so.
  if (sent.outcome == SocketTransfer::Outcome::done) {
    membership_.links.peers.push_back(
        {static_cast<int>(fetch->rank), guest.pid, std::move(guest.socket), std::move(guest.pidfd)});
  }
  guest.socket.reset();
  return {};
}

Status Joiner::connect_to_leader() {
  for (;;) {
    Result<UniqueFd> socket = connect_abstract(table_->leader_socket);
    // Rank 0 listened when it said hello; if it does no longer, then the rendezvous knows why.
    if (!socket.ok()) {
      const auto until = Clock::now() + kExplanationTime;
      std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}};
      while (Clock::now() < until) {
        TUTTI_TRY(wait(fds, until));
        if (fds[0].revents != 0) TUTTI_TRY(hear_server());
      }
      return socket.status().with_context("cannot reach rank 0");
    }
    if (socket->valid()) {
      Result<PeerCredentials> who = peer_credentials(socket->get());
      if (!who.ok()) return who.status();
      if (who->uid != geteuid()) {
        return {Code::invalid_usage,
                fmt::format("rank 0 belongs to user {} and this rank to user {}", who->uid, geteuid()), 0};
      }
      membership_.links.peers.push_back({0, who->pid, std::move(*socket), open_pidfd(who->pid)});
      return {};
    }
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}};
    TUTTI_TRY(wait(fds, Clock::now() + kRetryConnect));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
  }
}

Status Joiner::fetch_region() {
  TUTTI_TRY(connect_to_leader());
  const int leader = membership_.links.peers.front().socket.get();
  const std::vector<std::byte> fetch =
      wire::encode(wire::Fetch{request_.generation, static_cast<std::uint32_t>(request_.rank)}, request_.id.token());
  // The first message of a new connection always has room.
  static_cast<void>(send_some(leader, fetch));

  std::optional<Clock::time_point> until;
  bool listening = true;
  while (!membership_.region.valid()) {
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {listening ? leader : -1, POLLIN, 0}};
    TUTTI_TRY(wait(fds, until));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
    if (fds[1].revents != 0) {
      std::array<std::byte, 1> greeting{};
      PassedFd passed;
      const SocketTransfer got = receive_with_fd(leader, greeting, passed);
      membership_.region = std::move(passed.fd);
      if (got.outcome == SocketTransfer::Outcome::done && !membership_.region.valid()) {
        return passed.lost ? Status::from_errno("cannot receive the shared region from rank 0", EMFILE)
                           : Status(Code::system, "rank 0 has sent no shared region");
      }
      if (got.outcome == SocketTransfer::Outcome::closed) {
        listening = false;
        until = Clock::now() + kExplanationTime;
      }
    }
    if (until && Clock::now() >= *until) {
      return {Code::rank_lost, "rank 0 hung up before it had handed over the shared region", 0};
    }
  }
  return check_region(membership_.region.get(), request_.region_bytes(request_.num_ranks));
}

Status Joiner::send_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const SocketTransfer sent = send_some(server_.get(), bytes);
    // Its last words are still there to be read.
    if (sent.outcome == SocketTransfer::Outcome::closed) return hear_server();
    bytes = bytes.subspan(sent.bytes);
    if (sent.outcome == SocketTransfer::Outcome::would_block) {
      std::vector<pollfd> fds = {{server_.get(), POLLOUT, 0}};
      TUTTI_TRY(wait(fds));
    }
  }
  return {};
}

void Joiner::give_up(const Status& why) {
  if (has_said_hello_) {
    const int rank = why.rank() == Status::kNoRank ? request_.rank : why.rank();
    // Whose patience ended first is not who is to blame.
    const Status words(why.code(),
                       why.code() == Code::timeout ? fmt::format("{} (rank {} gave up)", why.to_string(), request_.rank)
                                                   : fmt::format("rank {} gave up: {}", request_.rank, why.to_string()),
                       rank);
    if (server_.valid()) static_cast<void>(send_some(server_.get(), wire::encode(wire::FrameType::give_up, words)));
    return;
  }
  // What a rank was refused for before comes first.
  const std::vector<std::byte> last =
      wire::encode(hello(request_.refusal.ok() ? why : request_.refusal), request_.id.token());
  if (server_.valid()) {
    static_cast<void>(send_some(server_.get(), last));
  } else if (!is_unreachable_) {
    // There was no descriptor to connect by, or no memory on the way there.
    say_without_descriptors(request_.id.address(), last);
  }
}

Status Joiner::wait(std::vector<pollfd>& fds, std::optional<Clock::time_point> wake) {
  for (;;) {
    const auto now = Clock::now();
    warn_if_late(now);
    if (deadline_ && now >= *deadline_) return late();
    std::optional<Clock::time_point> next = wake;
    if (options_.in_vain) {
      // What has come by then may say more.
      const Status in_vain = ask_whether_in_vain();
      if (!in_vain.ok()) return poll(fds.data(), fds.size(), 0) > 0 ? Status() : in_vain;
      next = next ? std::min(*next, now + kBetweenQuestions) : now + kBetweenQuestions;
    }
    for (const auto& other : {deadline_, warn_at_}) {
      if (other) next = next ? std::min(*next, *other) : *other;
    }
    const bool is_busy = options_.meanwhile && options_.meanwhile();
    const int ready = poll(fds.data(), fds.size(), is_busy ? kBusyPollMs : poll_timeout(next, now));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return Status::from_errno("cannot wait for the other ranks", errno);
    if (wake && Clock::now() >= *wake) {
      for (pollfd& fd : fds) fd.revents = 0;
      return {};
    }
  }
}

// Of those who wait for each other, the one that is stopped is who all wait for.
std::string Joiner::stopped_rank() const {
  for (std::size_t rank = 0; table_ && rank < table_->pids.size(); ++rank)
    if (is_stopped(table_->pids[rank]))
      return fmt::format("rank {} is late: process {} is stopped; ", rank, table_->pids[rank]);
  return "";
}

Status Joiner::late() const {
  const std::string waited = to_text(options_.timeout);
  if (progress_.empty())
    return {Code::timeout,
            fmt::format("the rendezvous at {} did not answer within {}", to_text(request_.id.address()), waited)};
  return {Code::timeout, fmt::format("{}{} after {}", stopped_rank(), progress_, waited)};
}

void Joiner::warn_if_late(Clock::time_point now) {
  if (!warn_at_ || now < *warn_at_) return;
  const auto waited = *warn_at_ - begun_;
  warn_at_ = begun_ + 2 * waited;
  if (!options_.warn) return;
  const std::string time = to_text(Nanos(waited.count()));
  options_.warn(progress_.empty() ? fmt::format("rank {} has waited {} for an answer of the rendezvous at {}",
                                                request_.rank, time, to_text(request_.id.address()))
                                  : fmt::format("rank {} has waited {} for the others: {}{}", request_.rank, time,
                                                stopped_rank(), progress_));
}

Status Joiner::wait_for_server() {
  std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}};
  TUTTI_TRY(wait(fds));
  return hear_server();
}

Status Joiner::hear_server() {
  std::array<std::byte, 4096> bytes{};
  for (;;) {
    const SocketTransfer got = receive_some(server_.get(), bytes);
    if (got.outcome == SocketTransfer::Outcome::would_block) return {};
    if (got.outcome == SocketTransfer::Outcome::closed) {
      if (complete_) return {};
      server_.reset();
      // It may have ended for what this rank can see too.
      TUTTI_TRY(ask_whether_in_vain());
      return {Code::system, fmt::format("the rendezvous at {} hung up before all ranks were there; the process that "
                                        "made the id has ended, or the id is not of this rendezvous",
                                        to_text(request_.id.address()))};
    }
    in_.insert(in_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got.bytes));
    for (;;) {
      Result<std::optional<wire::Frame>> frame = wire::take_frame(in_);
      if (!frame.ok()) return frame.status();
      if (!frame->has_value()) break;
      TUTTI_TRY(obey(**frame));
    }
  }
}

Status Joiner::obey(const wire::Frame& frame) {
  switch (frame.type) {
    case wire::FrameType::progress: progress_ = wire::parse_words(frame); return {};
    case wire::FrameType::complete: complete_ = true; return {};
    case wire::FrameType::failed: told_ = true; return wire::parse_error(frame);
    case wire::FrameType::table: {
      Result<wire::Table> table = wire::parse_table(frame);
      if (!table.ok()) return table.status();
      table_ = std::move(*table);
      return {};
    }
    case wire::FrameType::ready:
    case wire::FrameType::give_up: break;
  }
  return {Code::internal, "the rendezvous spoke out of turn"};
}

}  // namespace

Result<Membership> join(const JoinRequest& request, const JoinOptions& options) {
  TUTTI_TRY(check(request));
  return Joiner(request, options).run();
}

}  // namespace tutti
