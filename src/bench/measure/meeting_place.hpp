// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a group meet beside whatever is measured: in memory within a host, and through the first rank of
// each host between hosts. Meetings are numbered from 1 on and never begin anew, so nothing has to be reset between
// rounds. Ranks that share cores yield while they wait. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/hosts/host_links.hpp"
#include "bench/measure/sync_page.hpp"

namespace tutti::harness {

// Where a rank sits.
struct Seat {
  int rank = 0;              // of all
  int place = 0;             // of those on its host
  int num_here = 1;          // ranks on its host
  std::vector<int> host_of;  // by rank
  bool shares_cores = false;
  bool has_common_clock = true;  // the monotonic clocks of all hosts are one

  [[nodiscard]] int host() const { return host_of[static_cast<std::size_t>(rank)]; }
};

class MeetingPlace {
 public:
  // `links` is there for the first rank of each host, if there are several hosts. Both outlive it.
  MeetingPlace(SyncPage& page, std::optional<HostLinks>& links, Seat seat);

  [[nodiscard]] bool spans_hosts() const { return spans_hosts_; }

  // What became of the start of an iteration.
  struct Start {
    std::int64_t time = 0;  // of this rank
    bool is_late = false;   // this rank began behind the agreed instant
    bool is_over = false;   // the group is being ended
  };
  // All ranks meet, rank 0 announces an instant `margin` nanoseconds after all may have heard of it, and all wait for
  // it.
  [[nodiscard]] Start start_together(std::int64_t margin);
  // All ranks meet. False where the group is being ended.
  [[nodiscard]] bool meet();
  // What `root` says, on all ranks; nothing where the group is being ended.
  [[nodiscard]] std::optional<std::string> broadcast(std::string_view bytes, int root);

  // All ranks call these before and after the iterations of a round. Hosts compare their clocks, and end_round() brings
  // `starts` and `ends` to the clock of the first host. False where the group is being ended.
  [[nodiscard]] bool begin_round();
  [[nodiscard]] bool end_round(std::span<std::int64_t> starts, std::span<std::int64_t> ends);
  // By how much a time of the last round may be wrong between hosts, on rank 0.
  [[nodiscard]] std::int64_t clock_error() const { return clock_error_; }

 private:
  [[nodiscard]] bool is_first_here() const { return seat_.place == 0; }
  // All have come; what rank 0 decides goes to all.
  template <typename Decide>
  std::optional<std::int64_t> agree(Decide decide);
  // On the first rank of each host, while the others wait for its announcement.
  [[nodiscard]] bool compare_clocks(bool is_behind);

  SyncPage& page_;
  std::optional<HostLinks>& links_;
  Seat seat_;
  bool spans_hosts_ = false;
  std::uint64_t number_ = 0;  // of meetings so far
  std::int64_t clock_error_ = 0;
};

}  // namespace tutti::harness
