// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/network_meeting.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/system/host.hpp"
#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "runtime/bootstrap/addresses.hpp"
#include "runtime/bootstrap/start/id_host.hpp"
#include "runtime/bootstrap/start/patience.hpp"

namespace tutti::start {

namespace {

constexpr std::string_view kMaster = "MASTER_ADDR";

// Below the ports that systems give to connections, and beside torch's usual one.
constexpr std::uint16_t kFirstPort = 20'000;
constexpr std::uint16_t kNumPorts = 8'000;

class NetworkMeeting {
 public:
  NetworkMeeting(Process& process, const LocalMeeting& meeting, const MeetingHost& host)
      : process_(process),
        meeting_(meeting),
        host_(host),
        port_(chosen_port(process.variables, meeting)),
        place_(fmt::format("port {} of {} {}", port_, host.variable, in_quotes(host.name))),
        brief_(brief(process.options)) {}

  // Of rank 0.
  Result<UniqueId> serve() {
    const std::string what =
        fmt::format("rank 0 cannot wait for the ranks of {} at {}, which is to be its own host", meeting_.key, place_);
    TUTTI_TRY_ASSIGN(const std::vector<Address> own, addresses());
    if (own.empty()) return Status(Code::invalid_usage, fmt::format("{}: the system does not know that name", what));
    Status refused;
    for (Address address : own) {
      address.port = port_;
      Result<Listener> listener = listen_at(address);
      if (!listener.ok()) {
        refused = listener.status();
        continue;
      }
      address.port = 0;
      TUTTI_TRY_ASSIGN(const UniqueId id, process_.make_id({.spans_hosts = true, .address = address}));
      TUTTI_TRY_ASSIGN(std::unique_ptr<Kept> served,
                       serve_id_to(greeting_of(meeting_), std::move(listener->socket), id, meeting_.ranks.num_ranks));
      process_.kept.push_back(std::move(served));
      return id;
    }
    return Status(refused.code(),
                  fmt::format("{}: {}; TUTTI_START_PORT names another port", what, refused.to_string()));
  }

  // Of every other rank.
  Result<UniqueId> ask() {
    Patience patience(process_.options);
    for (;;) {
      TUTTI_TRY_ASSIGN(const std::vector<Address> theirs, addresses());
      std::string why = "the system does not know that name";
      for (Address address : theirs) {
        address.port = port_;
        TUTTI_TRY_ASSIGN(const std::optional<UniqueId> id, ask(address, why));
        if (id.has_value()) return *id;
      }
      TUTTI_TRY(patience.pause(
          fmt::format("rank {} waits for rank 0 of {} at {} ({})", meeting_.ranks.rank, meeting_.key, place_, why)));
    }
  }

 private:
  static std::uint16_t chosen_port(const Variables& variables, const LocalMeeting& meeting) {
    const auto wanted = variables.get<VariableId::start_port>();
    return wanted ? static_cast<std::uint16_t>(*wanted) : port_of(meeting);
  }
  // For what takes no time where somebody is there.
  static StartOptions brief(const StartOptions& options) {
    const bool is_sooner = options.timeout > Nanos() && options.timeout < options.answer;
    return {.late_warning = Nanos(),
            .timeout = is_sooner ? options.timeout : options.answer,
            .warn = {},
            .meanwhile = options.meanwhile};
  }

  // Empty where the system does not know the name. A host may know its own name as an address of loopback alone; both
  // sides then take the same other one.
  [[nodiscard]] Result<std::vector<Address>> addresses() const {
    std::vector<Address> found = addresses_of_host(host_.name);
    if (found.empty()) return found;
    std::erase_if(found, [](const Address& each) { return is_loopback(each); });
    if (!found.empty()) return found;
    TUTTI_TRY_ASSIGN(const Address own, address_for_hosts(process_.variables));
    return std::vector<Address>{own};
  }

  // Nothing, and why, where rank 0 is not there yet.
  Result<std::optional<UniqueId>> ask(const Address& address, std::string& why) {
    const auto not_yet = [&](std::string reason) {
      why = std::move(reason);
      return std::optional<UniqueId>();
    };
    Result<UniqueFd> socket = begin_connect(address);
    if (!socket.ok()) return not_yet(socket.status().to_string());
    Patience patience(brief_);
    if (!patience.until_connected(socket->get(), "").ok()) return not_yet("nobody answers");
    const Status connected = connect_outcome(socket->get());
    if (!connected.ok()) return not_yet(connected.to_string());
    const std::string question = fmt::format("{}{}\n", greeting_of(meeting_), meeting_.ranks.rank);
    static_cast<void>(send_some(socket->get(), std::as_bytes(std::span(question))));

    std::string answer;
    std::array<char, 512> part{};
    while (!answer.ends_with('\n') && answer.size() < part.size()) {
      if (!patience.until_readable(socket->get(), "").ok()) return not_yet("who listens there does not answer");
      const SocketTransfer got = receive_some(socket->get(), std::as_writable_bytes(std::span(part)));
      if (got.outcome == SocketTransfer::Outcome::would_block) continue;
      if (got.outcome != SocketTransfer::Outcome::done) break;
      answer.append(part.data(), got.bytes);
    }
    if (answer.empty()) return not_yet("who listens there knows nothing of this start");
    const Result<UniqueId> id = UniqueId::from_text(trim(answer.substr(0, answer.find('\n'))));
    if (!id.ok())
      return Status(Code::invalid_usage,
                    fmt::format("something else than rank 0 of {} is at {} ({}): {}; TUTTI_START_PORT names another "
                                "port",
                                meeting_.key, place_, to_text(address), id.status().to_string()));
    return std::optional(*id);
  }

  Process& process_;
  const LocalMeeting& meeting_;
  const MeetingHost& host_;
  const std::uint16_t port_;
  const std::string place_;  // in words
  const StartOptions brief_;
};

}  // namespace

Result<Started> meet_on_network(Process& process, const LocalMeeting& meeting, const MeetingHost& host) {
  NetworkMeeting on_network(process, meeting, host);
  TUTTI_TRY_ASSIGN(const UniqueId id, meeting.ranks.rank == 0 ? on_network.serve() : on_network.ask());
  return Started{meeting.ranks.rank, meeting.ranks.num_ranks, id, meeting.by};
}

Result<MeetingHost> master_host(const Environment& environment, std::string_view why) {
  const std::string name(trim(environment.lookup(kMaster).value_or("")));
  if (name.empty())
    return Status(Code::invalid_usage,
                  fmt::format("{}, and {} is not set; set it to rank 0's host, alike for all ranks, or start them by "
                              "'tutti launch --hosts', PMIx or MPICH's mpirun",
                              why, kMaster));
  if (is_name_of_loopback(name))
    return Status(Code::invalid_usage, fmt::format("{}, and {} is {}, which every host takes for itself; set it to "
                                                   "rank 0's host as others know it",
                                                   why, kMaster, in_quotes(name)));
  return MeetingHost{kMaster, name};
}

bool is_name_of_loopback(std::string_view host) {
  return host == "localhost" || host.starts_with("localhost.") || host == "ip6-localhost" || host == "::1" ||
         host.starts_with("127.");
}

std::uint16_t port_of(const LocalMeeting& meeting) {
  return static_cast<std::uint16_t>(kFirstPort + digest(meeting.key) % kNumPorts);
}

std::string greeting_of(const LocalMeeting& meeting) {
  return fmt::format("tutti-start 1 {:016x} ", digest(meeting.key));
}

}  // namespace tutti::start
