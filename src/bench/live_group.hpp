// The runner's side of a group while its processes live: starting them, holding each to the protocol, and ending them
// when one breaks it. Blocks; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/socket.hpp"
#include "base/units.hpp"
#include "bench/case.hpp"
#include "bench/connection.hpp"
#include "bench/launcher.hpp"
#include "bench/sync_page.hpp"

namespace tutti::harness {

struct Limits {
  Nanos start{60'000'000'000};
  Nanos answer{60'000'000'000};  // to one order
};

struct GroupRequest {
  Group group;
  std::vector<std::string> program;  // of the worker
  Launcher launcher = Launcher::local;
  std::vector<std::string> environment;  // the whole block
  bool is_bound = true;
  bool shares_cores = false;
  Limits limits;
  // Looked at while it waits: true ends the group.
  std::function<bool()> is_interrupted = [] { return false; };
};

class LiveGroup {
 public:
  // All ranks have begun; or why not, with what the processes wrote last.
  [[nodiscard]] static Result<std::unique_ptr<LiveGroup>> start(GroupRequest request);
  LiveGroup(const LiveGroup&) = delete;
  LiveGroup& operator=(const LiveGroup&) = delete;
  ~LiveGroup();

  // Gives all ranks the order and waits for the answer of each, by rank. Where a rank answers with "failed", dies, is
  // late, or says what it should not, that is an error; in all cases but the first the group is no longer of use.
  [[nodiscard]] Result<std::vector<Json>> exchange(const Json& order);
  [[nodiscard]] bool is_alive() const { return alive_; }
  [[nodiscard]] const Group& group() const { return request_.group; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] bool shares_cores() const { return request_.shares_cores; }
  // How long before the agreed instant it is agreed upon, in nanoseconds, as whoever measures has learned; 0 so far.
  std::int64_t margin = 0;

  // Connections that did not know the token.
  [[nodiscard]] int num_strangers() const { return num_strangers_; }

 private:
  struct Rank {
    std::unique_ptr<Connection> connection;
    bool has_answered = false;
    Json answer;
  };

  explicit LiveGroup(GroupRequest request) : request_(std::move(request)) {}
  Status begin();
  Status meet(const Listener& listener, const std::string& token);
  Status welcome(std::vector<std::unique_ptr<Connection>>& strangers, const std::string& token);
  Status seat(const Json& hello, std::unique_ptr<Connection> connection);
  Status await_answers(Clock::time_point deadline);
  Status take_answer(std::size_t rank);
  // The error with what is known of the processes; the group is ended.
  Status fail(const Status& why);

  GroupRequest request_;
  Processes processes_;
  SyncPage page_;
  std::vector<Rank> ranks_;
  std::string version_;
  bool alive_ = false;
  int num_strangers_ = 0;
};

}  // namespace tutti::harness
