// SPDX-License-Identifier: Apache-2.0
// The connection with another rank. It carries the messages of both, and is made by the one that first has something to
// send, or by both at once; then that of the lower rank stays. Where it breaks, both make it again. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "transport/endpoint.hpp"
#include "transport/tcp/incoming.hpp"
#include "transport/tcp/outgoing.hpp"
#include "transport/tcp/poller.hpp"
#include "transport/tcp/shared.hpp"
#include "transport/tcp/strangers.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

class Link {
 public:
  Link(Shared& shared, std::uint32_t rank);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  // Says bye where the connection stands.
  ~Link();

  [[nodiscard]] OutgoingQueue& to(Traffic traffic) { return sender_.queue(traffic); }
  [[nodiscard]] IncomingQueue& from(Traffic traffic) { return receiver_.queue(traffic); }

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  // How often a message, or a part of one, has come.
  [[nodiscard]] std::uint64_t num_pieces() const { return receiver_.num_pieces(); }
  [[nodiscard]] bool is_open() const { return state_ == State::open; }
  // A connection that the other rank has made. It replaces the one before; but where this rank is making one, too, that
  // of the lower rank goes first.
  void offer(Admitted offered);
  void forsake() noexcept {
    socket_.reset();
    offered_.reset();
  }
  // Whether the other host has all that was published, or refuses all connections: then nobody is there to read it.
  [[nodiscard]] bool has_delivered() const;

  bool on_event(const PollEvent& event);
  // Takes what has come, but not much more than one large message at a time.
  bool receive();
  // The same, of one that is on the list of those with more to read.
  bool read_on();
  // Tells the source all that has been taken: of one that is on the list of those where it is due, or of those that
  // owe.
  bool tell_due();
  bool tell_owed();

  // Of one that is to connect: begins where it is time, gives up where patience has ended. False where it need not be
  // asked again.
  bool on_time(Clock::time_point now);
  [[nodiscard]] Clock::time_point due() const { return due_; }
  // The time so far did not count: for the rank, or for the address that is being tried.
  void renew_patience(Clock::time_point now) { broken_since_ = now; }
  void renew_attempt(Clock::time_point now);
  // Breaks the connection if nothing of what this end has sent has been acknowledged for longer than is allowed. A host
  // acknowledges for ranks that do not read, too. To be asked now and then.
  void look_for_silence(Clock::time_point now);

  // What its queues say: one more message waits; more has come, or has been taken.
  void on_publish();
  // See Sender.
  [[nodiscard]] std::uint64_t begun_of(const OutgoingQueue& queue) const { return sender_.begun_of(queue); }
  void note_credits();

 private:
  // In this order, but for breaks and connections of the other rank. From `closed` it begins anew when there is
  // something to send; `failed` is for good.
  enum class State : std::uint8_t { closed, waiting, connecting, greeting, open, failed };

  [[nodiscard]] bool adopt(Admitted offered);
  [[nodiscard]] bool adopt_offered();
  void begin_waiting(Clock::time_point now);
  void try_next_address(Clock::time_point now);
  void fail_attempt(std::string words, Clock::time_point now);
  void give_up(Clock::time_point now);
  // Gives the rank up: it lacks a message of which this end kept no copy.
  void lose();
  void finish_connecting();
  void close();
  void disconnect();
  // Behind a silent way to the other host another address is tried first, and else the preferred one.
  enum class Way : std::uint8_t { open, silent };
  void break_off(std::string words, Way way = Way::open);
  void open(const Progress& there);

  // Whether what was lost with a connection has still to be sent again.
  void set_restoring(bool is_restoring);
  bool send();
  bool tell();
  bool use_received();
  bool use_welcome();
  void list_unread();
  [[nodiscard]] std::span<const Address> addresses() const { return shared_.options.addresses[rank_]; }

  Shared& shared_;
  const std::uint32_t rank_;
  Sender sender_;
  Receiver receiver_;
  State state_ = State::closed;
  UniqueFd socket_{};
  std::optional<Admitted> offered_{};  // for the case that the present attempt fails
  bool has_ended_ = false;             // an event has said so: read to the end
  int send_error_ = 0;

  bool is_unconnected_ = false;  // on the lists of Shared
  bool is_owing_ = false;
  bool is_due_ = false;
  bool is_unread_ = false;
  bool is_restoring_ = false;  // counted in Shared::restoring

  std::size_t attempt_ = 0;
  std::size_t refused_ = 0;  // attempts in a row, since the connection broke
  std::chrono::nanoseconds pause_{};
  Clock::time_point broken_since_{};
  Clock::time_point greeting_since_{};
  Clock::time_point due_{};
  Clock::time_point looked_at_{};  // for silence, and
  Clock::time_point heard_at_{};   // when the other host was last known to acknowledge
  std::string break_{};            // why the last connection broke, if there was one
  std::string trouble_{};          // why the last attempt failed
};

}  // namespace tutti::transport::tcp
