// SPDX-License-Identifier: Apache-2.0
// What the connections of one endpoint share: options, the poller, and lists of who has something to do. The endpoint
// owns it; one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/uio.h>

#include "base/system/socket.hpp"
#include "transport/endpoint.hpp"
#include "transport/tcp/endpoint.hpp"
#include "transport/tcp/poller.hpp"

namespace tutti::transport::tcp {

class Link;

struct Shared {
  explicit Shared(TcpOptions given) : options(std::move(given)) {}

  TcpOptions options;
  Poller poller{};
  std::uint64_t unsent = 0;        // messages and credits that the system does not have yet
  std::uint32_t restoring = 0;     // connections with which something was lost that is not sent again yet
  std::vector<Link*> unconnected;  // that are to connect
  std::vector<Link*> owing;        // that owe any credit
  std::vector<Link*> due;          // that owe so many that the other end may be waiting
  std::vector<Link*> unread;       // from which more can be read at once
  std::optional<Unreachable> unreachable{};

  void give_up(std::uint32_t rank, std::string words) {
    if (!unreachable) unreachable = Unreachable{rank, std::move(words)};
  }
  void warn(std::string_view words) const {
    if (options.warn) options.warn(words);
  }
};

// How a socket of a connection is set up so that the system notices a silent peer within about `restore_within`.
void set_patience(int socket, std::chrono::nanoseconds restore_within);
// The congestion control of a socket, by name; empty: the system's default. An error where the system does not have it,
// or does not let this process use it.
[[nodiscard]] Status check_congestion(const std::string& name);
void set_congestion(int socket, const std::string& name);
// What the other end's system has said of what was sent.
struct Acknowledgement {
  bool is_awaited = false;          // something is on its way
  std::chrono::milliseconds age{};  // since the last one came
};
[[nodiscard]] std::optional<Acknowledgement> last_acknowledgement(int socket);

// What has come, as much as the parts take. Nothing and no end: there is nothing yet.
struct Received {
  std::size_t bytes = 0;
  bool has_ended = false;
  int error = 0;  // why, where the other end has not closed it
};
[[nodiscard]] Received receive_into(int socket, std::span<iovec> parts);
[[nodiscard]] Received receive_into(int socket, std::span<std::byte> bytes);
// Whether the other end has closed it and has sent nothing more.
[[nodiscard]] bool has_been_closed(int socket);

// "Connection reset by peer"; 0 for what the other end has closed.
[[nodiscard]] std::string words_of_error(int error_number);

}  // namespace tutti::transport::tcp
