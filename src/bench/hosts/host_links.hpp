// SPDX-License-Identifier: Apache-2.0
// What ranks of several hosts meet through: a connection from the first rank of each host to rank 0. All hosts do the
// same in the same order, so messages carry no more than a number and a value.
//
// A wait polls its socket. It fails if the other end is gone or has been silent for some 11 s, or if `is_over` says so.
// After a failure the links are of no more use. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "base/unique_id.hpp"
#include "bench/hosts/clock_offset.hpp"

namespace tutti::harness {

class HostLinks {
 public:
  struct Waiting {
    bool shares_cores = false;  // yields then
    std::function<bool()> is_over;
  };

  // For rank 0, at this address of its host: others know where to come by id(), which is a secret.
  [[nodiscard]] static Result<HostLinks> listen(const Address& own);
  [[nodiscard]] std::string id() const { return id_->to_text(); }
  // Waits for all others.
  [[nodiscard]] Status accept(int num_hosts, Waiting waiting);
  // For the first rank of another host.
  [[nodiscard]] static Result<HostLinks> connect(const std::string& id, int host, Waiting waiting);

  [[nodiscard]] bool is_at_first_host() const { return id_.has_value(); }
  // Of the slowest connection, as far as clocks have been compared.
  [[nodiscard]] std::int64_t longest_round_trip() const { return longest_round_trip_; }

  // All hosts have come here; then the value that `decide` gives on the first host goes to all.
  [[nodiscard]] std::optional<std::int64_t> meet(std::uint64_t number, const std::function<std::int64_t()>& decide);
  // Compares the clock of each host with the first host's. On the first host the error is instead how wrong the clocks
  // of two other hosts may be against each other.
  [[nodiscard]] std::optional<ClockOffset> compare_clocks();
  // What one host has, on all.
  [[nodiscard]] bool broadcast(std::span<char> bytes, int from_host);

 private:
  struct Word {
    std::uint64_t number = 0;
    std::int64_t value = 0;
  };
  [[nodiscard]] bool send(int socket, std::span<const std::byte> bytes) const;
  [[nodiscard]] bool receive(int socket, std::span<std::byte> bytes) const;
  [[nodiscard]] bool send(int socket, const Word& word) const;
  [[nodiscard]] bool receive(int socket, Word& word) const;
  [[nodiscard]] bool ask(ClockOffset& best) const;
  [[nodiscard]] bool answer(int socket, std::int64_t& round_trip) const;
  void pause() const;

  int host_ = 0;
  std::optional<UniqueId> id_;  // on the first host
  UniqueFd listener_;
  std::vector<UniqueFd> sockets_;  // by host on the first, which has none for itself; else one, to the first
  Waiting waiting_;
  std::int64_t longest_round_trip_ = 0;
};

}  // namespace tutti::harness
