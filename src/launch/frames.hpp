// SPDX-License-Identifier: Apache-2.0
// What a launcher and its remote launchers say to each other over an agent's standard streams: frames of a type, a
// number and bytes. Lengths are checked before anything is kept. A launcher's first frame is the order, a remote
// launcher's the greeting. Values; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "base/variables/environment.hpp"
#include "launch/ending.hpp"
#include "launch/rank_processes.hpp"

namespace tutti::launch {

enum class FrameType : std::uint8_t {
  // From the launcher.
  order = 1,  // an Order
  signal,     // number: to be sent to all ranks
  input,      // bytes for rank 0
  input_end,
  // From the remote launcher.
  greeting = 65,  // the version of tutti
  output,         // number: the rank
  error_output,
  ended,        // number: the rank; a RankEnd
  refused,      // number: errno of what keeps the program from running there
  failed,       // why there are no ranks
  input_taken,  // rank 0 has what came; more may be sent
};

struct Frame {
  FrameType type{};
  std::uint32_t number = 0;
  std::string bytes;
};

inline constexpr std::size_t kMostPayload = 64 << 10;
inline constexpr std::size_t kMostOrder = 16 << 20;  // more than an environment and a command line may have

[[nodiscard]] std::string encode(FrameType type, std::uint32_t number, std::string_view bytes = {});

class FrameReader {
 public:
  void add(std::string_view bytes) { pending_ += bytes; }
  // Nothing where the next frame has not come in full. An error quotes what came in its place, and is final.
  [[nodiscard]] Result<std::optional<Frame>> next();
  // Bytes of a frame that has not come in full.
  [[nodiscard]] std::size_t unread() const { return pending_.size(); }

 private:
  std::string pending_;
};

// What a remote launcher is to start.
struct Order {
  std::string version;  // of tutti; both must have the same
  RankRange ranks;
  bool bind_to_cores = true;
  UniqueId id;
  std::string folder;  // to work in
  std::vector<std::string> command;
  std::vector<Environment::Pair> variables;  // over those of that host
};
[[nodiscard]] std::string encode(const Order& order);
// The version is read before all else: an order of another version is an error that says so.
[[nodiscard]] Result<Order> decode_order(std::string_view bytes, std::string_view own_version);

[[nodiscard]] std::string encode(const RankEnd& end);
[[nodiscard]] Result<RankEnd> decode_end(const Frame& frame);

}  // namespace tutti::launch
