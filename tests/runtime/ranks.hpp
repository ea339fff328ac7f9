// SPDX-License-Identifier: Apache-2.0
// Ranks for tests: as threads of this process, or as children that are forked before any thread runs. Children are
// ended and reaped by the destructor, by pid.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"
#include "runtime/bootstrap/bootstrap.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::test {

inline JoinRequest request_of(const UniqueId& id, int rank, int num_ranks) {
  JoinRequest request;
  request.id = id;
  request.rank = rank;
  request.num_ranks = num_ranks;
  request.region_bytes = [](const std::vector<std::uint32_t>& host_of, int) { return Bytes(4096U * host_of.size()); };
  return request;
}

// No test waits for ever: a join that hangs ends with Code::timeout. But processes may be stopped for a while, where
// somebody else measures.
constexpr std::chrono::seconds kPatience{100};

inline JoinOptions patient() {
  JoinOptions options;
  options.timeout = Nanos(std::chrono::nanoseconds(kPatience).count());
  return options;
}

// What each of `num_ranks` threads makes of its rank.
template <typename Work>
auto on_threads(int num_ranks, Work work) {
  using Outcome = decltype(work(0));
  std::vector<std::optional<Outcome>> outcomes(static_cast<std::size_t>(num_ranks));
  std::vector<std::thread> threads;
  threads.reserve(outcomes.size());
  for (int rank = 0; rank < num_ranks; ++rank) {
    threads.emplace_back([&, rank] { outcomes[static_cast<std::size_t>(rank)].emplace(work(rank)); });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

inline std::unique_ptr<RendezvousServer> start_server(const RendezvousOptions& options = {}) {
  Result<std::unique_ptr<RendezvousServer>> server = RendezvousServer::start(options);
  EXPECT_TRUE(server.ok()) << server.status().to_string();
  return std::move(server).value();
}

// At the loopback interface, where ranks may claim to be of several hosts.
inline std::unique_ptr<RendezvousServer> start_server_on_network() {
  Address loopback;
  loopback.bytes = {127, 0, 0, 1};
  return start_server({.address = loopback});
}

// Children that wait for the id, do their work and report lines. Fork them before the server is started.
class Children {
 public:
  // How a child tells the test something: a line of text.
  using Report = std::function<void(const std::string&)>;
  using Work = std::function<void(int rank, const UniqueId& id, const Report& report)>;

  Children(int count, const Work& work) {
    for (int rank = 0; rank < count; ++rank) fork_one(rank, work);
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (Child& child : children_) {
      if (child.reaped) continue;
      ::kill(child.pid, SIGKILL);
      waitpid(child.pid, nullptr, 0);
    }
  }

  void release(const UniqueId& id) {
    const std::string text = id.to_text();
    for (Child& child : children_) EXPECT_EQ(write(child.orders.get(), text.data(), text.size()), 128);
  }

  // The next line of a child; empty once it has ended or when patience has.
  std::string line(int rank) {
    Child& child = children_[static_cast<std::size_t>(rank)];
    const auto until = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      if (const std::size_t end = child.text.find('\n'); end != std::string::npos) {
        std::string line = child.text.substr(0, end);
        child.text.erase(0, end + 1);
        return line;
      }
      pollfd fd{child.reports.get(), POLLIN, 0};
      if (std::chrono::steady_clock::now() >= until) return {};
      if (poll(&fd, 1, 100) <= 0) continue;
      std::array<char, 512> bytes{};
      const ssize_t got = read(child.reports.get(), bytes.data(), bytes.size());
      if (got <= 0) return {};
      child.text.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }

  void kill(int rank) { ::kill(children_[static_cast<std::size_t>(rank)].pid, SIGKILL); }
  [[nodiscard]] pid_t pid(int rank) const { return children_[static_cast<std::size_t>(rank)].pid; }
  int wait_for_end(int rank) {
    Child& child = children_[static_cast<std::size_t>(rank)];
    int status = 0;
    waitpid(child.pid, &status, 0);
    child.reaped = true;
    return status;
  }

 private:
  struct Child {
    pid_t pid = 0;
    UniqueFd orders;   // to the child
    UniqueFd reports;  // from the child
    std::string text;
    bool reaped = false;
  };

  void fork_one(int rank, const Work& work) {
    std::array<int, 2> orders{};
    std::array<int, 2> reports{};
    ASSERT_EQ(pipe2(orders.data(), O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(reports.data(), O_CLOEXEC), 0);
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      for (Child& sibling : children_) {
        sibling.orders.reset();
        sibling.reports.reset();
      }
      close(orders[1]);
      close(reports[0]);
      std::string text(128, ' ');
      std::size_t got = 0;
      while (got < text.size()) {
        const ssize_t part = read(orders[0], text.data() + got, text.size() - got);
        if (part <= 0) _exit(3);
        got += static_cast<std::size_t>(part);
      }
      Result<UniqueId> id = UniqueId::from_text(text);
      if (!id.ok()) _exit(4);
      work(rank, *id, [&](const std::string& words) {
        const std::string line = words + "\n";
        static_cast<void>(!write(reports[1], line.data(), line.size()));
      });
      _exit(0);
    }
    close(orders[0]);
    close(reports[1]);
    children_.push_back({pid, UniqueFd(orders[1]), UniqueFd(reports[0]), {}, false});
  }

  std::vector<Child> children_;
};

}  // namespace tutti::test
