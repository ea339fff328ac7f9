// SPDX-License-Identifier: Apache-2.0
// The memory through which the ranks of a host agree on when an iteration begins, beside whatever is measured.
//
// The runner makes it or, if ranks are on several hosts, the first rank of each host. It is an unnamed file, so nothing
// is left behind however a process dies. The other ranks are told where it is, and map it. Every line has one writer,
// but for the lines of ranks in a barrier, which all read. Iterations are numbered from 1 and never begin anew while
// the page lives, so nothing has to be reset between rounds. A rank uses its view from one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"
#include "bench/hosts/clock_offset.hpp"

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

  // This rank has come to a meeting; `number` counts up by one from meeting to meeting, alike on all ranks. What it did
  // before is done for who sees it there.
  void arrive(int rank, std::uint64_t number);
  // All ranks of the page have. False where the group is being ended.
  [[nodiscard]] bool await_all(int num_ranks, std::uint64_t number, bool shares_cores);
  // One rank says what has been agreed upon; the others hear it, or that the group is being ended.
  void announce(std::uint64_t number, std::int64_t value);
  [[nodiscard]] std::optional<std::int64_t> await_announcement(std::uint64_t number, bool shares_cores);

  // A board that one rank writes and the others read, with a meeting before and behind.
  static constexpr std::size_t kBoardBytes = 4096;
  [[nodiscard]] std::span<char, kBoardBytes> board() { return layout_->board; }

  // How this host's clock stands to the first host's: the announcing rank writes it, before it announces.
  [[nodiscard]] HostClock& clock() { return layout_->clock; }

  // For a rank whose body failed, or whose runner has gone: nobody waits any longer.
  void end();
  [[nodiscard]] bool is_over() const { return layout_->end.is_over.load(std::memory_order_relaxed) != 0; }

 private:
  struct alignas(64) RankLine {
    std::atomic<std::uint64_t> arrived;
  };
  struct alignas(64) AnnouncementLine {
    std::atomic<std::uint64_t> number;
    std::atomic<std::int64_t> value;
  };
  struct alignas(64) EndLine {
    std::atomic<std::uint32_t> is_over;
  };
  struct Layout {
    EndLine end;
    AnnouncementLine announcement;
    HostClock clock;
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
