// SPDX-License-Identifier: Apache-2.0
// What a program calls on one communicator, counted as it calls: a cell for each site, collective, size, type and root.
// Counting a call that is like the one before is three compares and a decrement; a clock, which takes longer than that
// and a tenth of a small call, is read only now and then (docs/decisions/0050).
//
// Belongs to a communicator: one thread at a time, but for arm(). Writes its part (workload/part.hpp) into a folder at
// its end, at the end of the process, and now and then before.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/status.hpp"
#include "data/collective.hpp"
#include "data/type.hpp"
#include "workload/part.hpp"

namespace tutti {

// Of what is measured now and then: each value stands for the calls since the one before.
class Sampled {
 public:
  // All of `value`, and for the calls that it stands for besides, no more than is usual: once in a while a core is
  // taken away for a thousand times as long as a call takes.
  void take(double value, std::uint64_t calls);
  // The same without doubt.
  void take_as_is(double value, std::uint64_t calls);
  [[nodiscard]] double mean() const { return calls_ == 0 ? 0 : sum_ / static_cast<double>(calls_); }
  [[nodiscard]] double usual() const { return usual_; }

 private:
  double sum_ = 0;
  double usual_ = 0;
  std::uint64_t calls_ = 0;
};

class Recorder {
 public:
  using Clock = std::int64_t (*)();  // nanoseconds
  [[nodiscard]] static std::int64_t steady_clock();

  struct Options {
    std::string folder = {};
    std::string api = "tutti";  // whose calls they are
    std::uint32_t ranks = 1;
    std::uint32_t rank = 0;
    std::uint32_t line = 0;                                // see Part
    std::function<void(std::string_view)> warn = nullptr;  // of what cannot be written; once
    Clock clock = steady_clock;
  };

  // What calls have in common.
  struct Key {
    std::uint64_t place = 0;   // 48 bits of address, and collective and type
    std::uint64_t amount = 0;  // 44 bits of count, and the root
    friend bool operator==(const Key&, const Key&) = default;
  };
  [[nodiscard]] static Key key_of(const void* site, Collective collective, Type type, std::uint64_t count,
                                  std::uint32_t root) {
    return {reinterpret_cast<std::uintptr_t>(site) | std::uint64_t{static_cast<std::uint8_t>(collective)} << kSiteBits |
                std::uint64_t{static_cast<std::uint8_t>(type)} << (kSiteBits + 8),
            count | std::uint64_t{root} << kCountBits};
  }
  static constexpr std::uint64_t kMostCount = (std::uint64_t{1} << 44U) - 1;

  struct Cell;
  struct Call {
    Cell* cell = nullptr;
    bool is_clocked = false;
    std::int64_t start = 0;
  };

  explicit Recorder(Options options);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  // Counts a call that is like the one before, unless a clock is due. Where it does not, begin() is to be called.
  [[nodiscard]] bool count_again(const Key& key) {
    if (place_.load(std::memory_order_relaxed) != key.place || amount_ != key.amount) [[unlikely]]
      return false;
    if (--left_ > 0) [[likely]]
      return true;
    ++left_;
    return false;
  }
  // The last one has failed, or is counted anew.
  void take_back() { ++left_; }

  // Any call, from its begin to its end. Nothing here fails: what there is no memory for is counted as left out.
  [[nodiscard]] Call begin(const Key& key) noexcept;
  [[nodiscard]] Call begin(Cell& cell) noexcept;
  // Of one that began at `start` and is told of only now.
  [[nodiscard]] Call begin_late(Cell& cell, std::int64_t start) noexcept;
  void end(const Call& call, bool is_done) noexcept {
    if (!is_done || call.is_clocked) [[unlikely]]
      end_otherwise(call, is_done);
  }

  // Of what is started again and again.
  [[nodiscard]] Cell& cell_of(const Key& key) noexcept;
  // All sends and receives.
  [[nodiscard]] Cell& transfers();
  // Of the wait for a call that was clocked.
  [[nodiscard]] std::int64_t begin_wait(Cell& cell) noexcept;
  void end_wait(Cell& cell, std::int64_t start) noexcept;
  // Of calls in a group: at each, and around the wait for all, whose time they share.
  void note_grouped(const Call& call) noexcept;
  [[nodiscard]] std::int64_t begin_group_end() noexcept;
  void end_group(std::int64_t start) noexcept;

  // The next call is to tell how long it is since this moment, if it comes from the thread that this is.
  void arm(const void* thread) {
    if (user_.load(std::memory_order_relaxed) != thread) return;
    armed_.store(true, std::memory_order_relaxed);
    place_.store(kNowhere, std::memory_order_relaxed);
  }

  // So far; times in part are of what was clocked.
  [[nodiscard]] Part part() const;
  // Whole: nothing follows. Not of another process's copy.
  void write(bool is_whole) noexcept;
  // For the list of a process's recorders.
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  static constexpr unsigned kSiteBits = 48;
  static constexpr unsigned kCountBits = 44;
  static constexpr std::size_t kMostCells = 1U << 14U;
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};  // the place of no call

  [[nodiscard]] Cell* find(const Key& key) const;
  [[nodiscard]] Cell& make(const Key& key);
  [[nodiscard]] Call begin_at(Cell& cell, const std::int64_t* start) noexcept;
  void end_otherwise(const Call& call, bool is_done) noexcept;
  void set_current(Cell& cell);
  void insert(Cell& cell);
  void take_gap(Sampled& gaps, std::int64_t now, std::uint64_t calls);
  void set_stretch(Cell& cell);
  void come_to_end(std::int64_t now) noexcept;
  [[nodiscard]] Status write_part(bool is_whole) const;
  [[nodiscard]] double elapsed(std::int64_t from, std::int64_t to) const;

  // The cell of the last call: its key, and what is left of it, which the cell itself has once another is called. The
  // place is kNowhere where the next call is to come to begin(): other communicators of the thread may say so.
  std::atomic<std::uint64_t> place_ = kNowhere;
  std::uint64_t amount_ = 0;
  std::int64_t left_ = 1;
  Cell* current_ = nullptr;
  Options options_;
  pid_t process_;
  std::string name_;  // of the file
  // The first two are of no key: calls that there is no room for, and transfers.
  std::deque<Cell> cells_;
  std::vector<Cell*> places_;  // open addressing; its size is a power of two
  std::atomic<bool> armed_ = false;
  alignas(64) std::atomic<const void*> user_ = nullptr;  // the thread that called last
  std::int64_t clock_costs_ = 0;
  std::uint64_t random_ = 0x9E3779B97F4A7C15;
  std::vector<Cell*> grouped_;     // those that were clocked
  std::uint64_t group_calls_ = 0;  // and all
  std::int64_t next_write_ = 0;
  std::int64_t between_writes_ = 0;
  bool has_warned_ = false;
  mutable bool has_written_ = false;
};

// Its calls are `reached` less those that are left until the next is clocked, that one included.
struct Recorder::Cell {
  Key key;
  Recorder* owner = nullptr;
  std::int64_t left = 1;
  std::uint64_t reached = 1;
  std::uint64_t stretch = 1;  // calls that the next clocked one stands for
  std::uint64_t weight = 1;   // and the last
  std::uint64_t clocked = 0;
  std::uint64_t gaps_up_to = 0;  // the calls that gaps tell of
  Sampled time;
  Sampled waits;
  Sampled gaps;
  Sampled gaps_before_waits;
  CallSite site;

  [[nodiscard]] std::uint64_t calls() const { return reached - static_cast<std::uint64_t>(left); }
};

inline Recorder::Call Recorder::begin(const Key& key) noexcept {
  if (count_again(key)) return {.cell = current_};
  return begin(cell_of(key));
}

}  // namespace tutti
