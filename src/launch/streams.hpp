// SPDX-License-Identifier: Apache-2.0
// The streams of ranks, as their launcher sees them: pipes that they print into, the lines that become of it, and
// standard input on its way to rank 0. One thread at a time.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::launch {

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};
// Both ends close on exec.
[[nodiscard]] Result<Pipe> make_pipe();

// Something that a rank has printed.
struct RankOutput {
  int rank = 0;
  bool is_error = false;
  std::string_view bytes;
};
using TakeOutput = std::function<void(const RankOutput&)>;

// One stream of one rank: a pipe that does not block.
struct RankStream {
  UniqueFd fd;
  int rank = 0;
  bool is_error = false;

  // What has come, but no more than `kMostAtOnce`: who never stops writing does not keep the launcher from everything
  // else. At the end of the stream it closes.
  void pump(const TakeOutput& take);
  // All that was there when nobody was left to write; also where a process that a rank has left behind writes on.
  void drain(const TakeOutput& take);

  static constexpr int kMostAtOnce = 65536;
};

// Prints what ranks have printed: as it came, or line by line with the rank in front.
class OutputWriter {
 public:
  OutputWriter(bool tag, std::ostream& out, std::ostream& error) : tag_(tag), out_(out), error_(error) {}
  void take(const RankOutput& output);
  // Also the last lines that nobody ended.
  void finish();

 private:
  void take_line_by_line(const RankOutput& output, std::ostream& to);

  bool tag_;
  std::ostream& out_;
  std::ostream& error_;
  std::map<std::pair<int, bool>, std::string> lines_;  // begun, by rank and stream
};

// Standard input for a pipe to rank 0, where only the launcher may read it: a terminal, or another host.
struct InputPump {
  UniqueFd writer;
  std::string pending;

  [[nodiscard]] bool wants_input() const { return writer.valid() && pending.empty(); }
  // From the launcher's own standard input.
  void read_some();
  void write_some();
};

}  // namespace tutti::launch
