// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/local_meeting.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/digest.hpp"
#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "runtime/bootstrap/start/id_host.hpp"
#include "runtime/bootstrap/start/patience.hpp"

namespace tutti::start {

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Of whom it is that listens at the name; nothing where nobody does.
std::optional<PeerCredentials> holder_of(const std::string& name) {
  const Result<UniqueFd> socket = connect_abstract(name);
  if (!socket.ok() || !socket->valid()) return std::nullopt;
  const Result<PeerCredentials> who = peer_credentials(socket->get());
  return who.ok() ? std::optional(*who) : std::nullopt;
}

Result<UniqueId> host(Process& process, const LocalMeeting& meeting) {
  Result<UniqueId> id = process.make_id({});
  if (!id.ok() || meeting.ranks.num_ranks == 1) return id;
  const std::string name = socket_name(meeting);
  Result<UniqueFd> listener = listen_abstract(name, meeting.ranks.num_ranks);
  if (!listener.ok()) {
    const std::optional<PeerCredentials> holder = holder_of(name);
    if (!holder) return listener.status().with_context(fmt::format("cannot wait for the ranks of {}", meeting.key));
    return Status(Code::invalid_usage,
                  fmt::format("process {} of user {} waits for the ranks of {} already, at the socket @{}", holder->pid,
                              holder->uid, meeting.key, name));
  }
  TUTTI_TRY_ASSIGN(std::unique_ptr<Kept> served, serve_id(std::move(*listener), *id, meeting.ranks.num_ranks));
  process.kept.push_back(std::move(served));
  return id;
}

class Guest {
 public:
  Guest(const Process& process, const LocalMeeting& meeting)
      : options_(process.options),
        meeting_(meeting),
        name_(socket_name(meeting)),
        what_(fmt::format("rank {} waits for rank 0 of {} at the socket @{}", meeting.ranks.rank, meeting.key, name_)),
        patience_(process.options) {}

  Result<UniqueId> ask() {
    for (;;) {
      const Result<UniqueFd> socket = connect_abstract(name_);
      // Nobody listens there yet, or its queue is full.
      if (socket.ok() && socket->valid()) {
        TUTTI_TRY_ASSIGN(std::optional<UniqueId> id, ask(socket->get()));
        if (id.has_value()) return *id;
      }
      TUTTI_TRY(patience_.pause(what_));
    }
  }

 private:
  // Nothing where the other side hangs up: it has given the id to all ranks of a start before this one.
  Result<std::optional<UniqueId>> ask(int socket) {
    const Result<PeerCredentials> who = peer_credentials(socket);
    if (!who.ok()) return who.status();
    const auto refuse = [&](std::string_view why) {
      return Status(Code::invalid_usage, fmt::format("process {} of user {} is at the socket @{}, where rank 0 of {} "
                                                     "is to be, and {}",
                                                     who->pid, who->uid, name_, meeting_.key, why));
    };
    if (who->uid != geteuid()) return refuse(fmt::format("this rank belongs to user {}", geteuid()));
    const std::string rank = fmt::format("{}", meeting_.ranks.rank);
    if (send_some(socket, std::as_bytes(std::span(rank))).outcome != SocketTransfer::Outcome::done)
      return std::optional<UniqueId>();

    const bool sooner = options_.timeout > Nanos() && options_.timeout < options_.answer;
    const StartOptions until_answered{.late_warning = Nanos(), .timeout = sooner ? options_.timeout : options_.answer};
    if (!Patience(until_answered).until_readable(socket, "").ok()) return refuse("does not answer; has it stopped?");
    std::array<std::byte, 1024> answer{};
    const SocketTransfer got = receive_some(socket, answer);
    if (got.outcome != SocketTransfer::Outcome::done) return std::optional<UniqueId>();
    const Result<UniqueId> id = UniqueId::from_text(text_of(std::span(answer).first(got.bytes)));
    if (!id.ok()) return refuse(fmt::format("says something else than rank 0 would: {}", id.status().to_string()));
    return std::optional(*id);
  }

  const StartOptions& options_;
  const LocalMeeting& meeting_;
  const std::string name_;
  const std::string what_;
  Patience patience_;
};

}  // namespace

std::string socket_name(const LocalMeeting& meeting) {
  return fmt::format("tutti-start-{}-{:016x}", geteuid(), digest(meeting.key));
}

Result<Started> meet_here(Process& process, const LocalMeeting& meeting) {
  TUTTI_TRY_ASSIGN(const UniqueId id, meeting.ranks.rank == 0 ? host(process, meeting) : Guest(process, meeting).ask());
  return Started{meeting.ranks.rank, meeting.ranks.num_ranks, id, meeting.by};
}

}  // namespace tutti::start
