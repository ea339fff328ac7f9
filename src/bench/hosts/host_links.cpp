// SPDX-License-Identifier: Apache-2.0
#include "bench/hosts/host_links.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include "base/relax.hpp"
#include "bench/measure/clock.hpp"

namespace tutti::harness {

namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::size_t kMostPending = 64;

// The quickest answer tells most: as many questions as fit into the time, but some at least, and few over slow links.
constexpr std::uint64_t kMostQuestions = 32;
constexpr std::uint64_t kLeastQuestions = 8;
constexpr std::int64_t kQuestionsNanos = 1'000'000;
constexpr std::int64_t kMostQuestionsNanos = 20'000'000;
// Numbers of words, far from those of meetings.
constexpr std::uint64_t kQuestion = ~std::uint64_t{0};
constexpr std::uint64_t kEnough = kQuestion - 1;

// The first that is said on a connection: the token, and which host this is.
constexpr std::size_t kHelloBytes = kTokenBytes + sizeof(std::uint32_t);

// Somebody who has connected, and not yet said all of it.
struct Guest {
  UniqueFd socket;
  std::array<std::byte, kHelloBytes> said{};
  std::size_t num_said = 0;
};

// False where it has gone.
bool listen_to(Guest& guest) {
  while (guest.num_said < kHelloBytes) {
    const SocketTransfer got = receive_some(guest.socket.get(), std::span(guest.said).subspan(guest.num_said));
    if (got.outcome == SocketTransfer::Outcome::closed) return false;
    if (got.outcome == SocketTransfer::Outcome::would_block) return true;
    guest.num_said += got.bytes;
  }
  return true;
}

}  // namespace

Result<HostLinks> HostLinks::listen(const Address& own) {
  HostLinks links;
  Address address = own;
  address.port = 0;
  TUTTI_TRY_ASSIGN(Listener listener, listen_at(address));
  TUTTI_TRY_ASSIGN(links.id_, UniqueId::make(listener.address));
  links.listener_ = std::move(listener.socket);
  return links;
}

Status HostLinks::accept(int num_hosts, Waiting waiting) {
  waiting_ = std::move(waiting);
  sockets_.resize(static_cast<std::size_t>(num_hosts));
  std::vector<Guest> guests;
  const auto deadline = Clock::now() + kPatience;
  for (int num_here = 1; num_here < num_hosts;) {
    if (waiting_.is_over()) return {Code::aborted, "the group is being ended"};
    if (Clock::now() >= deadline)
      return {Code::timeout, fmt::format("{} of {} hosts have not reached {}", num_hosts - num_here, num_hosts,
                                         to_text(id_->address()))};
    TUTTI_TRY_ASSIGN(UniqueFd accepted, accept_from(listener_.get()));
    if (accepted.valid()) guests.push_back({std::move(accepted)});
    if (guests.size() > kMostPending) guests.erase(guests.begin());
    for (Guest& guest : guests) {
      if (!listen_to(guest)) guest.socket.reset();
      if (!guest.socket.valid() || guest.num_said < kHelloBytes) continue;
      std::uint32_t host = 0;
      std::memcpy(&host, guest.said.data() + kTokenBytes, sizeof host);
      const bool is_known = same_token(std::span(guest.said).first<kTokenBytes>(), id_->token());
      if (is_known && host > 0 && host < sockets_.size() && !sockets_[host].valid()) {
        watch_silence(guest.socket.get());
        sockets_[host] = std::move(guest.socket);
        ++num_here;
      }
      guest.socket.reset();
    }
    std::erase_if(guests, [](const Guest& guest) { return !guest.socket.valid(); });
    pollfd connection{listener_.get(), POLLIN, 0};
    ::poll(&connection, 1, 1);
  }
  listener_.reset();
  return {};
}

Result<HostLinks> HostLinks::connect(const std::string& id, int host, Waiting waiting) {
  HostLinks links;
  links.host_ = host;
  links.waiting_ = std::move(waiting);
  TUTTI_TRY_ASSIGN(const UniqueId of_links, UniqueId::from_text(id));
  Result<UniqueFd> connected = connect_within(of_links.address(), Clock::now() + kPatience, links.waiting_.is_over);
  if (!connected.ok()) return connected.status().with_context("cannot reach rank 0");
  UniqueFd socket = std::move(*connected);
  std::array<std::byte, kHelloBytes> hello{};
  const auto number = static_cast<std::uint32_t>(host);
  std::memcpy(hello.data(), of_links.token().data(), kTokenBytes);
  std::memcpy(hello.data() + kTokenBytes, &number, sizeof number);
  if (!links.send(socket.get(), hello)) return Status(Code::rank_lost, "rank 0 has gone", 0);
  watch_silence(socket.get());
  links.sockets_.push_back(std::move(socket));
  return links;
}

void HostLinks::pause() const {
  if (waiting_.shares_cores) {
    ::sched_yield();
  } else {
    relax();
  }
}

bool HostLinks::send(int socket, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const SocketTransfer sent = send_some(socket, bytes);
    if (sent.outcome == SocketTransfer::Outcome::closed || waiting_.is_over()) return false;
    bytes = bytes.subspan(sent.bytes);
    if (!bytes.empty()) pause();
  }
  return true;
}

bool HostLinks::receive(int socket, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const SocketTransfer got = receive_some(socket, bytes);
    if (got.outcome == SocketTransfer::Outcome::closed || waiting_.is_over()) return false;
    bytes = bytes.subspan(got.bytes);
    if (!bytes.empty()) pause();
  }
  return true;
}

bool HostLinks::send(int socket, const Word& word) const { return send(socket, std::as_bytes(std::span(&word, 1))); }
bool HostLinks::receive(int socket, Word& word) const {
  return receive(socket, std::as_writable_bytes(std::span(&word, 1)));
}

std::optional<std::int64_t> HostLinks::meet(std::uint64_t number, const std::function<std::int64_t()>& decide) {
  Word word{number, 0};
  if (!is_at_first_host()) {
    const int socket = sockets_.front().get();
    if (!send(socket, word) || !receive(socket, word) || word.number != number) return std::nullopt;
    return word.value;
  }
  for (std::size_t host = 1; host < sockets_.size(); ++host)
    if (!receive(sockets_[host].get(), word) || word.number != number) return std::nullopt;
  word.value = decide();
  for (std::size_t host = 1; host < sockets_.size(); ++host)
    if (!send(sockets_[host].get(), word)) return std::nullopt;
  return word.value;
}

bool HostLinks::ask(ClockOffset& best) const {
  const int socket = sockets_.front().get();
  const std::int64_t begin = now();
  for (std::uint64_t question = 0; question < kMostQuestions; ++question) {
    const std::int64_t sent = now();
    const std::int64_t most = question < kLeastQuestions ? kMostQuestionsNanos : kQuestionsNanos;
    if (question >= 2 && sent - begin > most) break;
    Word word{kQuestion, 0};
    if (!send(socket, word) || !receive(socket, word)) return false;
    const ClockOffset offset = offset_of(sent, word.value, now());
    best = question == 0 ? offset : better(best, offset);
  }
  return send(socket, Word{kEnough, 2 * best.error});
}

bool HostLinks::answer(int socket, std::int64_t& round_trip) const {
  while (true) {
    Word word;
    if (!receive(socket, word) || (word.number != kQuestion && word.number != kEnough)) return false;
    if (word.number == kEnough) {
      round_trip = word.value;
      return true;
    }
    word.value = now();
    if (!send(socket, word)) return false;
  }
}

std::optional<ClockOffset> HostLinks::compare_clocks() {
  ClockOffset best{.at = now()};
  if (!is_at_first_host()) {
    // It answers one after the other, and the first question waits for that.
    Word word;
    if (!receive(sockets_.front().get(), word) || !ask(best)) return std::nullopt;
    longest_round_trip_ = 2 * best.error;
    return best;
  }
  longest_round_trip_ = 0;
  std::int64_t second = 0;
  for (std::size_t host = 1; host < sockets_.size(); ++host) {
    std::int64_t round_trip = 0;
    if (!send(sockets_[host].get(), Word{}) || !answer(sockets_[host].get(), round_trip)) return std::nullopt;
    second = std::max(second, std::min(longest_round_trip_, round_trip));
    longest_round_trip_ = std::max(longest_round_trip_, round_trip);
  }
  // An iteration may begin on one of them and end on another.
  best.error = (longest_round_trip_ + second) / 2;
  return best;
}

bool HostLinks::broadcast(std::span<char> bytes, int from_host) {
  const std::span<std::byte> raw = std::as_writable_bytes(bytes);
  if (!is_at_first_host()) {
    const int socket = sockets_.front().get();
    return from_host == host_ ? send(socket, raw) : receive(socket, raw);
  }
  if (from_host != 0 && !receive(sockets_[static_cast<std::size_t>(from_host)].get(), raw)) return false;
  for (std::size_t host = 1; host < sockets_.size(); ++host)
    if (static_cast<int>(host) != from_host && !send(sockets_[host].get(), raw)) return false;
  return true;
}

}  // namespace tutti::harness
