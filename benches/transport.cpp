// SPDX-License-Identifier: Apache-2.0
// Messages over TCP beside a plain program on a blocking socket, in the same two processes: half a round trip of 8
// bytes, and the rate of large messages one way and both ways at once. Blocks of both take turns, so that whatever
// state the machine is in, it is in for both; the ratio is of a block and the next, its median is shown with the
// non-parametric 95 % interval. Bars: at most 1.15 of the plain program's time, at least 0.9 of its rate.
//
// transport [ADDRESS]: the IPv4 address of this host to go over; 127.0.0.1 by default.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "transport/tcp/endpoint.hpp"

namespace {

using tutti::Clock;
using tutti::transport::Endpoint;
using tutti::transport::Traffic;

constexpr tutti::transport::EndpointShape kShape = {.depth = 8, .slot = 128 << 10};
constexpr int kRoundTrips = 400;
constexpr std::size_t kBlockBytes = 48 << 20;

[[noreturn]] void fail(std::string_view words) {
  fmt::print(stderr, "transport: {}\n", words);
  std::_Exit(2);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// What somebody writes who needs just this: one socket. It blocks, or it spins as Tutti does.
class Plain {
 public:
  Plain(int socket, bool is_first) : socket_(socket), is_first_(is_first), sent_(kShape.slot), got_(kShape.slot) {}

  void round_trip() {
    if (is_first_) write(8);
    read(8);
    if (!is_first_) write(8);
  }
  void one_way(std::size_t bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) is_first_ ? write(bytes) : read(bytes);
    is_first_ ? read(1) : write(1);
  }
  void set_spinning(bool spins) { flags_ = spins ? MSG_DONTWAIT : 0; }
  void both_ways(std::size_t bytes, std::size_t count) {
    std::thread writer([=, this] {
      for (std::size_t i = 0; i < count; ++i) write(bytes);
    });
    for (std::size_t i = 0; i < count; ++i) read(bytes);
    writer.join();
  }

 private:
  void write(std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t put = ::send(socket_, sent_.data() + done, bytes - done, MSG_NOSIGNAL | flags_);
      if (put < 0 && errno == EAGAIN) continue;
      if (put <= 0) fail("the plain program's connection broke");
      done += static_cast<std::size_t>(put);
    }
  }
  void read(std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got = ::recv(socket_, got_.data() + done, bytes - done, flags_);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) fail("the plain program's connection broke");
      done += static_cast<std::size_t>(got);
    }
  }

  int socket_;
  bool is_first_;
  int flags_ = 0;
  std::vector<char> sent_;
  std::vector<char> got_;
};

// The same over an endpoint.
class Ours {
 public:
  Ours(Endpoint& endpoint, std::uint32_t rank)
      : endpoint_(endpoint),
        is_first_(rank == 0),
        to_(endpoint.to(1 - rank, Traffic::schedules)),
        from_(endpoint.from(1 - rank, Traffic::schedules)) {}

  void round_trip() {
    if (is_first_) write(8);
    read();
    if (!is_first_) write(8);
  }
  void one_way(std::size_t bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) is_first_ ? write(bytes) : read();
    is_first_ ? read() : write(0);
    settle();
  }
  void both_ways(std::size_t bytes, std::size_t count) {
    std::size_t sent = 0;
    std::size_t got = 0;
    while (sent < count || got < count) {
      for (; sent < count && to_.has_credit(); ++sent) put(bytes);
      for (; from_.has_message(); ++got) from_.take();
      if (sent < count || got < count) step();
    }
    settle();
  }

 private:
  void step() {
    endpoint_.step();
    if (endpoint_.unreachable()) fail(endpoint_.unreachable()->words);
  }
  void settle() {
    while (!endpoint_.has_sent_all()) step();
  }
  void put(std::size_t bytes) { to_.publish_from(sent_.data(), bytes, 0); }
  void write(std::size_t bytes) {
    while (!to_.has_credit()) step();
    put(bytes);
  }
  void read() {
    while (!from_.has_message()) step();
    from_.take();
  }

  Endpoint& endpoint_;
  bool is_first_;
  tutti::transport::Outgoing& to_;
  tutti::transport::Incoming& from_;
  std::vector<std::byte> sent_ = std::vector<std::byte>(kShape.slot);
};

struct Row {
  const char* what;
  std::size_t bytes;  // 0: a round trip of 8
  bool both;
  bool spins;  // the plain program
  int blocks;
  double bar;  // 0: none
};

constexpr auto kRows = std::to_array<Row>({{"8 B, half a round trip (us)", 0, false, false, 100, 1.15},
                                           {"8 B, beside one that spins (us)", 0, false, true, 100, 0},
                                           {"64 KB one way (GB/s)", 64 << 10, false, false, 30, 0.9},
                                           {"64 KB, beside one that spins", 64 << 10, false, true, 30, 0},
                                           {"128 KB one way (GB/s)", 128 << 10, false, false, 30, 0.9},
                                           {"128 KB, beside one that spins", 128 << 10, false, true, 30, 0},
                                           {"64 KB both ways, each (GB/s)", 64 << 10, true, false, 30, 0.9},
                                           {"128 KB both ways, each (GB/s)", 128 << 10, true, false, 30, 0.9}});

// One block: microseconds of half a round trip, or GB/s in one direction.
template <typename Program>
double block_of(Program& program, const Row& row) {
  const Clock::time_point start = Clock::now();
  if (row.bytes == 0) {
    for (int i = 0; i < kRoundTrips; ++i) program.round_trip();
    return seconds_since(start) / kRoundTrips / 2 * 1e6;
  }
  const std::size_t count = kBlockBytes / row.bytes;
  row.both ? program.both_ways(row.bytes, count) : program.one_way(row.bytes, count);
  return static_cast<double>(row.bytes * count) / seconds_since(start) / 1e9;
}

double at_rank(const std::vector<double>& sorted, double rank) {
  return sorted[static_cast<std::size_t>(std::clamp(rank, 0.0, static_cast<double>(sorted.size() - 1)))];
}

bool measure(const Row& row, Plain& plain, Ours& ours, bool says) {
  std::vector<double> theirs, mine, ratios;
  plain.set_spinning(row.spins);
  for (int block = -2; block < row.blocks; ++block) {
    const double a = block_of(plain, row);
    const double b = block_of(ours, row);
    if (block < 0) continue;  // warms up
    theirs.push_back(a);
    mine.push_back(b);
    ratios.push_back(b / a);
  }
  for (std::vector<double>* values : {&theirs, &mine, &ratios}) std::sort(values->begin(), values->end());
  const double middle = row.blocks / 2.0;
  const double half = 0.98 * std::sqrt(row.blocks);  // 1.96 standard deviations of a fair coin, in ranks
  const double ratio = at_rank(ratios, middle);
  const bool met = row.bar == 0 || (row.bytes == 0 ? ratio <= row.bar : ratio >= row.bar);
  if (says)
    fmt::print("{:32} {:>7.2f} {:>7.2f} {:>6.2f}  [{:.2f}, {:.2f}] {:>5.2f}  {}\n", row.what, at_rank(theirs, middle),
               at_rank(mine, middle), ratio, at_rank(ratios, middle - half), at_rank(ratios, middle + half), row.bar,
               row.bar == 0 ? "shown only"
               : met        ? "met"
                            : "missed");
  std::fflush(stdout);
  return met;
}

// Both ranks' listeners are made before the fork, so that each knows the other's address.
struct Pair {
  std::array<tutti::Listener, 2> listeners;
  tutti::Listener plain;
  tutti::Token token{};
};

tutti::UniqueFd plain_socket(const Pair& pair, std::uint32_t rank) {
  tutti::UniqueFd socket;
  if (rank == 0) {
    tutti::Result<tutti::UniqueFd> begun = tutti::begin_connect(pair.plain.address);
    if (!begun.ok()) fail(begun.status().to_string());
    socket = std::move(begun).value();
  } else {
    while (!socket.valid()) {
      tutti::Result<tutti::UniqueFd> accepted = tutti::accept_from(pair.plain.socket.get());
      if (!accepted.ok()) fail(accepted.status().to_string());
      socket = std::move(accepted).value();
    }
  }
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
  return socket;
}

int run(Pair& pair, std::uint32_t rank) {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(rank, &core);
  sched_setaffinity(0, sizeof core, &core);
  tutti::transport::tcp::TcpOptions options{.rank = rank, .num_ranks = 2, .shape = kShape, .token = pair.token};
  for (const tutti::Listener& listener : pair.listeners) options.addresses.add(std::span(&listener.address, 1));
  options.listeners.push_back(std::move(pair.listeners[rank]));
  auto endpoint = tutti::transport::tcp::make_tcp_endpoint(std::move(options));
  if (!endpoint.ok()) fail(endpoint.status().to_string());
  const tutti::UniqueFd socket = plain_socket(pair, rank);
  Plain plain(socket.get(), rank == 0);
  Ours ours(**endpoint, rank);
  if (rank == 0)
    fmt::print("{:32} {:>7} {:>7} {:>6}  {:>12} {:>5}  verdict\n", "", "plain", "Tutti", "ratio", "interval", "bar");
  bool all_met = true;
  for (const Row& row : kRows) all_met = measure(row, plain, ours, rank == 0) && all_met;
  return all_met ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tutti::Address address{.family = tutti::Address::Family::ipv4};
  if (argc > 2 || inet_pton(AF_INET, argc == 2 ? argv[1] : "127.0.0.1", address.bytes.data()) != 1)
    fail("usage: transport [ADDRESS], an IPv4 address of this host");
  Pair pair;
  for (tutti::Listener* listener : {&pair.listeners[0], &pair.listeners[1], &pair.plain}) {
    tutti::Result<tutti::Listener> made = tutti::listen_at(address);
    if (!made.ok()) fail(made.status().to_string());
    *listener = std::move(made).value();
  }
  const tutti::Result<tutti::Token> token = tutti::make_token();
  if (!token.ok()) fail(token.status().to_string());
  pair.token = token.value();
  const pid_t child = fork();
  if (child < 0) fail("cannot start a second process");
  // Only rank 0's verdict counts: it alone has the figures that are shown.
  if (child == 0) return run(pair, 1) == 2 ? 2 : 0;
  const int status = run(pair, 0);
  int other = 0;
  if (waitpid(child, &other, 0) != child || !WIFEXITED(other) || WEXITSTATUS(other) != 0) return 2;
  fmt::print("transport: {}\n", status == 0 ? "all bars met" : "a bar is missed");
  return status;
}
