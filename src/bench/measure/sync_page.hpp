// SPDX-License-Identifier: Apache-2.0
// The memory through which the ranks of a group agree on when an iteration begins, beside whatever is measured.
//
// The runner makes it (an unnamed file, so nothing is left behind however a process dies) and tells the ranks where it
// is; each maps it. Every line has one writer, but for the lines of ranks in a barrier, which all read. Iterations are
// numbered from 1 and never begin anew while the page lives, so nothing has to be reset between rounds. A rank uses its
// view from one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::harness {

class SyncPage {
 public:
  static constexpr int kMostRanks = 1024;

  SyncPage() = default;
  SyncPage(SyncPage&& other) noexcept;
  SyncPage& operator=(SyncPage&& other) noexcept;
  SyncPage(const SyncPage&) = delete;
  SyncPage& operator=(const SyncPage&) = delete;
  ~SyncPage();

  // For the runner: a new one for so many ranks.
  [[nodiscard]] static Result<SyncPage> create(int num_ranks);
  // For a rank: the one at this path, which the runner's path() names.
  [[nodiscard]] static Result<SyncPage> open(const std::string& path, int num_ranks);

  // Where other processes of the same user find it while this one lives.
  [[nodiscard]] std::string path() const;

  // What became of the start of an iteration.
  struct Start {
    std::int64_t time = 0;  // of this rank
    bool is_late = false;   // this rank began behind the agreed instant
    bool is_over = false;   // the group is being ended
  };
  // All ranks meet, rank 0 announces an instant `margin` nanoseconds ahead, and all wait for it. `iteration` counts up
  // by one from call to call, alike on all ranks. Ranks that share cores yield while they wait.
  [[nodiscard]] Start start_together(int rank, int num_ranks, std::uint64_t iteration, std::int64_t margin,
                                     bool shares_cores);
  // All ranks meet. False where the group is being ended.
  [[nodiscard]] bool meet(int rank, int num_ranks, std::uint64_t iteration, bool shares_cores);

  // A board that one rank writes and the others read, with a meeting before and behind.
  static constexpr std::size_t kBoardBytes = 4096;
  [[nodiscard]] std::span<char, kBoardBytes> board() { return layout_->board; }

  // For a rank whose body failed, or whose runner has gone: nobody waits any longer.
  void end();

 private:
  struct alignas(64) RankLine {
    std::atomic<std::uint64_t> arrived;
  };
  struct alignas(64) StartLine {
    std::atomic<std::uint64_t> iteration;
    std::atomic<std::int64_t> time;
  };
  struct alignas(64) EndLine {
    std::atomic<std::uint32_t> is_over;
  };
  struct Layout {
    EndLine end;
    StartLine start;
    RankLine ranks[kMostRanks];
    char board[kBoardBytes];
  };

  [[nodiscard]] static Result<SyncPage> map(UniqueFd file, int num_ranks);
  template <typename Reached>
  bool wait(Reached reached, bool shares_cores);

  UniqueFd file_;
  Layout* layout_ = nullptr;
};

}  // namespace tutti::harness
