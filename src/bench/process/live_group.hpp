// SPDX-License-Identifier: Apache-2.0
// The runner's side of a group while its processes live: starting them, holding each to the protocol, and ending them
// when one breaks it. Blocks; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/socket.hpp"
#include "base/unique_id.hpp"
#include "base/units.hpp"
#include "bench/axes/case.hpp"
#include "bench/hosts/ranks_on_hosts.hpp"
#include "bench/measure/sync_page.hpp"
#include "bench/process/connection.hpp"
#include "bench/process/cores.hpp"
#include "bench/process/launcher.hpp"

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
  Bind bind = Bind::core;
  std::optional<OverHosts> hosts = std::nullopt;  // nothing: all ranks are on this one
  Limits limits;
  // Looked at while it waits: true ends the group.
  std::function<bool()> is_interrupted = [] { return false; };
};

class LiveGroup {
 public:
  explicit LiveGroup(GroupRequest request);
  LiveGroup(const LiveGroup&) = delete;
  LiveGroup& operator=(const LiveGroup&) = delete;
  ~LiveGroup();
  // All ranks have begun; or why not, with what the processes wrote last. After an interrupt those are left to end_all,
  // since others may have to be ended with them.
  [[nodiscard]] Status start();
  // Ends several at once: all may leave in good order, under one time limit, but for an interrupt.
  static void end_all(const std::vector<LiveGroup*>& groups);

  // Gives all ranks the order and waits for the answer of each, by rank. Where a rank answers with "failed", dies, is
  // late, or says what it should not, that is an error; in all cases but the first the group is no longer of use, and
  // in that one only where the others answer too: they may wait for it within the backend, and are not waited for long.
  [[nodiscard]] Result<std::vector<Json>> exchange(const Json& order);
  [[nodiscard]] bool is_alive() const { return alive_; }
  [[nodiscard]] const Group& group() const { return request_.group; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] bool shares_cores() const { return shares_cores_; }
  [[nodiscard]] bool spans_hosts() const { return on_hosts_.num_hosts() > 1; }
  // What is to be known of all that it measures: who came without the token, and where ranks are if not each on a core
  // of its own. Empty where there is nothing.
  [[nodiscard]] std::string remarks() const;
  // How long before the agreed instant it is agreed upon, in nanoseconds, as whoever measures has learned; 0 so far.
  std::int64_t margin = 0;

 private:
  struct Rank {
    std::unique_ptr<Connection> connection;
    Json here;  // where it says that it is
    bool has_answered = false;
    Json answer;
  };

  // Connected, and has not said the token yet.
  struct Stranger {
    std::unique_ptr<Connection> connection;
    Clock::time_point since;
  };
  // How long something may take, and what is said where it takes longer: "has not answered within 60s".
  struct Patience {
    Clock::time_point until;
    std::string_view what;
    Nanos limit;
  };

  Status begin();
  Status meet(const Listener& listener, const UniqueId& id, const Patience& patience);
  Status accept(const Listener& listener, std::vector<Stranger>& strangers);
  Status welcome(std::vector<Stranger>& strangers, const UniqueId& id);
  Status seat(const Json& hello, std::unique_ptr<Connection> connection);
  [[nodiscard]] Result<Address> meeting_address() const;
  // Over several hosts, before they begin: who is where, and where they meet, for the order to begin.
  Status gather(const Patience& patience, Json& begin_order);
  [[nodiscard]] Json begin_order() const;
  Status check_began(const std::vector<Json>& answers);
  [[nodiscard]] Result<std::vector<Json>> exchange(const Json& order, const Patience& patience);
  Status await_answers(const Patience& patience, std::string_view due);
  [[nodiscard]] Status failure_of(std::size_t rank) const;
  Status take_answer(std::size_t rank, std::string_view due);
  // The error with what is known of the processes; the group is ended, which an interrupt leaves to end_all.
  Status fail(const Status& why);

  GroupRequest request_;
  Processes processes_;
  SyncPage page_;
  std::vector<Rank> ranks_;
  std::string version_;
  bool alive_ = false;
  RanksOnHosts on_hosts_;      // over several hosts
  std::vector<Core> cores_;    // of this machine
  bool shares_cores_ = false;  // more ranks than cores
  int num_strangers_ = 0;
};

}  // namespace tutti::harness
