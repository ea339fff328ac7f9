// SPDX-License-Identifier: Apache-2.0
// The state of a rendezvous's thread (rendezvous.hpp): its connections, in rendezvous.cpp, and the generations that
// they belong to, in rendezvous/generations.cpp. Not thread-safe but for what is said.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "runtime/bootstrap/gathering.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include "runtime/bootstrap/rendezvous/connection.hpp"
#include "runtime/bootstrap/rendezvous/ended_generations.hpp"
#include "runtime/bootstrap/service_thread.hpp"
#include "runtime/bootstrap/waiting_tree.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {

// What the thread works on. Everything but `stopping`, `arrived` and `finished` is its own once it runs.
struct RendezvousServer::State {
  using Connection = RendezvousConnection;
  static constexpr std::size_t kUsualPolled = 64;
  // How often waiting ranks are told who is missing. Each of many wakes for it, so they are told less often.
  [[nodiscard]] static std::chrono::milliseconds progress_every(int num_ranks) {
    constexpr std::chrono::milliseconds kOfFew{200};
    return kOfFew * std::clamp(num_ranks / 256, 1, 10);
  }
  static constexpr std::chrono::milliseconds kFarewell{200};  // for ranks late to a failure, before this process ends
  struct OpenGeneration {
    Gathering gathering;
    WaitingTree tree{};
    bool progress_due = false;
    // Who is missing.
    [[nodiscard]] std::string progress() const {
      return gathering.all_arrived() && !tree.have_all_attached() ? tree.progress() : gathering.progress();
    }
  };

  State(UniqueId the_id, UniqueFd the_listener, const RendezvousOptions& the_options)
      : id(the_id), options(the_options), listener(std::move(the_listener)) {
    polled.reserve(kUsualPolled);
  }

  void run(int wake_fd);
  // What there is to do until the next sleep ends; false once all is done.
  bool serve_once(int wake_fd);
  // Tells every waiting rank, and hangs up on the others. Allocates no memory.
  void fail_for_memory() noexcept;
  void prepare_poll(int wake_fd);
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;
  void accept_all();
  // Whether to let no more of them in for now.
  [[nodiscard]] bool is_crowded();
  // So that there is room for one more of the kind.
  void drop_a_stranger(bool is_foreign);
  // Whether to try again at once.
  bool make_room(const Status& shortage);
  void receive(Connection& connection);
  void greet(Connection& connection);
  void admit(Connection& connection, wire::Hello hello);
  // Tells one of many ranks, which has just been admitted, where it is to wait. Whether that is at another.
  bool send_on(Connection& connection, OpenGeneration& entry, const wire::Hello& hello);
  // Once the last has arrived, and is where it is to wait.
  void send_table(std::uint64_t generation);
  // What a rank says of one that waits at it.
  void obey_of_other(Connection& connection, const wire::Frame& frame);
  void note_attached(std::uint64_t generation, int rank);
  void obey_give_up(const Connection& connection, const Status& why);
  void obey_frames(Connection& connection);
  void hung_up(Connection& connection);
  void end_generation(std::uint64_t generation, const Status& outcome);
  // Tells a rank that has come too late for it.
  void tell_late(Connection& connection, EndedGeneration& earlier);
  void release_held(std::uint64_t generation);
  void push_progress();
  void expire_and_sweep();
  // Asked to end, and nobody is left who is to hear why a generation failed.
  [[nodiscard]] bool is_over();
  [[nodiscard]] bool is_done() const {
    return options.most_generations != 0 && finished.load(std::memory_order_relaxed) >= options.most_generations;
  }

  const UniqueId id;
  const RendezvousOptions options;
  std::atomic<bool> stopping{false};
  std::atomic<std::uint64_t> arrived{0};
  std::atomic<std::uint64_t> finished{0};

  UniqueFd listener;
  UniqueFd spare;  // given up so that a rank can come in and be told
  Clock::time_point now = Clock::now();
  Clock::time_point accept_from_then = now;
  std::optional<Clock::time_point> crowded_since;  // by connections that have not said who they are
  std::optional<Clock::time_point> short_since;    // of descriptors
  std::optional<Clock::time_point> failure_until;  // a generation has failed; who is late hears it until then
  std::optional<Clock::time_point> farewell_until;
  std::optional<Clock::time_point> next_progress;
  std::vector<Connection> connections;
  std::vector<pollfd> polled;  // wake, listener, then one for each connection
  std::map<std::uint64_t, OpenGeneration> open;
  EndedGenerations ended;
  const Status no_memory{Code::system,
                         fmt::format("process {}, which serves the rendezvous, has no memory left", getpid())};
  const std::shared_ptr<const std::vector<std::byte>> no_memory_words =
      std::make_shared<const std::vector<std::byte>>(wire::encode(wire::FrameType::failed, no_memory));

  std::unique_ptr<ServiceThread> thread;  // last, so that it ends before what it works on
};

}  // namespace tutti
