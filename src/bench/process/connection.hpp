// SPDX-License-Identifier: Apache-2.0
// One end of the stream between the runner and a worker: JSON texts, each behind its length. What comes in is nobody's
// friend until it has said the token, so everything has limits and malformed input is an error that quotes it.
//
// Owns its socket, which is non-blocking; one thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/status.hpp"
#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::harness {

using Json = nlohmann::json;

class Connection {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMostBytesOfStrangers = 65536;  // one tells its host's cores

  explicit Connection(UniqueFd socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const { return socket_.get(); }
  // From then on long messages are taken.
  void trust() { most_bytes_ = kMostBytes; }

  // Takes the message; as much of it goes out as the socket has room for, the rest with flush().
  [[nodiscard]] Status send(const Json& message);
  [[nodiscard]] Status flush();
  [[nodiscard]] bool has_unsent() const { return !unsent_.empty(); }

  // Takes in what there is, up to the length of the longest message. A message that is whole comes out of next(); the
  // other end's going is an error, once everything it has sent has come out.
  [[nodiscard]] Status receive();
  [[nodiscard]] Result<std::optional<Json>> next();
  [[nodiscard]] bool is_closed() const { return closed_; }

  // For workers, who have nothing else to do: the next message, however long it takes.
  [[nodiscard]] Result<Json> await();

 private:
  UniqueFd socket_;
  std::size_t most_bytes_ = kMostBytesOfStrangers;
  std::string unsent_;
  std::string received_;
  bool closed_ = false;
};

}  // namespace tutti::harness
