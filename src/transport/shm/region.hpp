// SPDX-License-Identifier: Apache-2.0
// The memory that the ranks of one communicator share on a host: lines, staging slots, message slots, and behind them
// the symmetric heap. It is a memfd: it has no name and is gone with the last process that maps it.
//
// Ranks of the communicator that are on other hosts have no slots and no connections here. Of their lines nobody may
// read or write any: the file is sparse, so these cost address space only. What is known of such a rank here is whether
// it has left, in one word.
//
// A Region owns its mapping and its descriptor. Several ranks of one process may share one Region (tests do). The
// accessors are thread-safe in themselves; who may write what is said in line.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/status.hpp"
#include "base/system/unique_fd.hpp"
#include "transport/shm/life.hpp"
#include "transport/shm/line.hpp"
#include "transport/traffic.hpp"

namespace tutti::shm {

// The same on every rank of a communicator.
struct RegionShape {
  std::uint32_t num_ranks = 1;
  std::uint32_t num_here = 0;              // of these on this host; 0: all
  std::uint32_t staging_depth = 4;         // slots that a rank stages through in turn
  std::uint64_t staging_slot = 128 << 10;  // bytes each
  std::uint32_t staging_slots = 0;         // slots that a rank has, for what takes more at a time; at least the depth
  std::uint32_t message_depth = 4;         // slots a connection
  std::uint64_t message_slot = 128 << 10;  // bytes each
  // What slots take at the least, so that payloads have room to rotate in: a rank's staging slots, or one connection's
  // slots; and all connections from a rank.
  std::uint64_t memory_of_slots = 2 << 20;
  std::uint64_t memory_of_connections = 64 << 20;
  [[nodiscard]] std::uint32_t num_slots() const { return std::max(staging_depth, staging_slots); }
  [[nodiscard]] std::uint32_t num_local() const { return num_here == 0 ? num_ranks : num_here; }
  [[nodiscard]] bool has_hosts() const { return num_local() != num_ranks; }
  // From one slot to the next, and from one message's bytes to their end: there is room to spread what is put there
  // (spread.hpp), less of it in each of many connections.
  [[nodiscard]] std::uint64_t staging_room() const {
    return whole_pages(std::max(staging_slot, memory_of_slots / num_slots()));
  }
  [[nodiscard]] std::uint64_t message_room() const {
    return whole_pages(
        std::max(message_slot, std::min(memory_of_slots, memory_of_connections / num_local()) / message_depth));
  }
  friend bool operator==(const RegionShape&, const RegionShape&) = default;

 private:
  static constexpr std::uint64_t kPage = 4096;
  [[nodiscard]] static constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
  }
};

// Bytes of a region of that shape, before the symmetric heap.
[[nodiscard]] std::uint64_t region_bytes(const RegionShape& shape);

// Zeroed memory without a name. It can grow but never shrink: nobody can take away what others have mapped, which would
// kill them with SIGBUS.
[[nodiscard]] Result<UniqueFd> make_memory(std::uint64_t bytes);

// To so many bytes, which are more than it has. Where the process may not have files of that size (ulimit -f) that is
// an error like others: the signal that comes with it ends nobody.
[[nodiscard]] Status grow_memory(int memory, std::uint64_t bytes);

// Why a communicator can no longer be used; the first reason that anyone gives stays.
struct Breakage {
  static constexpr std::size_t kMostWords = 1024;

  Code code = Code::internal;
  std::uint32_t rank = 0;
  std::string words = {};  // for every rank to say the same; may be empty, and ends after kMostWords
};

inline constexpr std::size_t kMaxCores = 1024;

using transport::kNumTraffics;
using transport::Traffic;

// One connection from rank to rank: how many messages the destination has taken (its own line), and the slots, each
// with its head, followed by the bytes that do not fit into the head.
struct Connection {
  CounterLine* taken = nullptr;
  std::byte* slots = nullptr;
  std::uint64_t stride = 0;
  std::uint32_t depth = 1;
  [[nodiscard]] FlagLine& message(std::uint64_t index) const {
    return *reinterpret_cast<FlagLine*>(slots + (index % depth) * stride);
  }
  // Of a slot, behind its head.
  [[nodiscard]] std::uint64_t room() const { return stride - kPair; }
};

class Region {
 public:
  static constexpr std::uint64_t kPage = 4096;
  // From one rank's lines to the next's. Not a whole page: a load that agrees with a store under way in its low 12
  // address bits waits for it, and ranks poll the line that stands where their own does; up to four of them have no
  // line that is stored in every call where another's is polled.
  static constexpr std::uint64_t kControlStride = kPage + 8 * kPair;

  // A fresh region for ranks of this process.
  [[nodiscard]] static Result<std::unique_ptr<Region>> create(const RegionShape& shape);
  // Maps a region that a rank has made (bootstrap.hpp).
  [[nodiscard]] static Result<std::unique_ptr<Region>> map(UniqueFd memory, const RegionShape& shape);
  // The same where only these ranks, in ascending order, are on this host.
  [[nodiscard]] static Result<std::unique_ptr<Region>> map(UniqueFd memory, const RegionShape& shape,
                                                           const std::vector<std::uint32_t>& here);

  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  [[nodiscard]] const RegionShape& shape() const { return shape_; }
  [[nodiscard]] bool is_here(std::uint32_t rank) const { return places_.empty() || places_[rank] != kElsewhere; }
  [[nodiscard]] int descriptor() const { return memory_.get(); }

  // Whether the rank has left in order, wherever it is. Acquire: what it did before is there.
  [[nodiscard]] bool has_left(std::uint32_t rank) const {
    if (!is_here(rank)) return left_elsewhere(rank).load(std::memory_order_acquire) != 0;
    return call(rank).presence.load(std::memory_order_acquire) == Presence::left;
  }
  // After how many operations, if it has.
  [[nodiscard]] std::uint64_t operations_of_left(std::uint32_t rank) const {
    if (!is_here(rank)) return left_elsewhere(rank).load(std::memory_order_relaxed) - 1;
    return call(rank).operation.load(std::memory_order_acquire);
  }
  // Of a rank on another host.
  void note_left(std::uint32_t rank, std::uint64_t operations) const {
    left_elsewhere(rank).store(operations + 1, std::memory_order_release);
  }

  // Posts go to the lines in turn.
  [[nodiscard]] FlagLine& post_line(std::uint32_t rank, std::uint64_t sequence) const {
    return control(rank)->posts[sequence % kPostLines].line;
  }
  // How many rounds' direct reads and writes the rank, which is on this host, has behind it. Written by that rank.
  [[nodiscard]] CounterLine& finished(std::uint32_t rank) const { return control(rank)->finished; }
  [[nodiscard]] std::atomic<std::uint64_t>& place(std::uint32_t rank, std::uint32_t post) const {
    TUTTI_ASSERT(post < kMaxPlaces, "a place is asked for only where there is one");
    return control(rank)->places.place[post];
  }
  [[nodiscard]] DoorbellLine& doorbell(std::uint32_t rank) const { return control(rank)->doorbell; }
  [[nodiscard]] CallLine& call(std::uint32_t rank) const { return control(rank)->call; }
  [[nodiscard]] LifeLine& life(std::uint32_t rank) const { return control(rank)->life; }
  [[nodiscard]] HistoryLines& history(std::uint32_t rank) const { return control(rank)->history; }
  [[nodiscard]] ReasonLines& reason(std::uint32_t rank) const { return control(rank)->reason; }
  [[nodiscard]] ShrinkLines& shrink(std::uint32_t rank) const { return control(rank)->shrink; }
  // The latest attempt to shrink: whose proposal counts, and its outcome. Each is stored once for each attempt, by
  // whichever rank is first.
  [[nodiscard]] std::atomic<std::uint64_t>& shrink_decision() const { return header()->shrink_decision; }
  [[nodiscard]] std::atomic<std::uint64_t>& shrink_outcome() const { return header()->shrink_outcome; }
  [[nodiscard]] std::atomic<std::uint64_t>& cores(std::uint32_t rank, std::size_t word) const {
    return control(rank)->cores[word];
  }
  // This and what follows are of ranks on this host.
  [[nodiscard]] std::byte* staging(std::uint32_t rank) const {
    return base_ + staging_ + place_of(rank) * staging_stride_;
  }

  [[nodiscard]] Connection connection(std::uint32_t source, std::uint32_t destination, Traffic traffic) const {
    std::byte* base =
        base_ + connections_ +
        ((static_cast<std::uint64_t>(traffic) * shape_.num_local() + place_of(source)) * shape_.num_local() +
         place_of(destination)) *
            connection_stride_;
    return {reinterpret_cast<CounterLine*>(base), base + kPair, message_stride_, shape_.message_depth};
  }

  // Pages of the rank's connections that nobody has touched come to lie near this thread: of those from it, or to it.
  [[nodiscard]] Status bring_near(std::uint32_t rank, bool as_sender) const;

  // How many ranks are asleep or about to be: whoever posts looks here first.
  [[nodiscard]] std::atomic<std::uint32_t>& sleepers() const { return header()->sleepers; }

  // Bytes of a core's first cache, of all that is its own and of the last, as rank 0 sees them: all ranks must take the
  // same, since sizes of the machine profile may follow from them. Stored by rank 0 before it is present.
  [[nodiscard]] std::atomic<std::uint64_t>& first_cache() const { return header()->first_cache; }
  [[nodiscard]] std::atomic<std::uint64_t>& core_cache() const { return header()->core_cache; }
  [[nodiscard]] std::atomic<std::uint64_t>& last_level_cache() const { return header()->last_level_cache; }

  [[nodiscard]] bool is_broken() const { return header()->broken.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] std::optional<Breakage> breakage() const;
  // Its code alone; Code::ok where nothing is broken.
  [[nodiscard]] Code broken_by() const {
    return static_cast<Code>((header()->broken.load(std::memory_order_acquire) >> 32) & 0xff);
  }
  // Marks the communicator as broken for every rank and wakes them all.
  void break_with(const Breakage& why) const;
  void wake_all() const;
  void wake(std::uint32_t rank) const;

  [[nodiscard]] std::uint64_t heap_offset() const { return heap_; }

 private:
  struct Header {
    alignas(kLine) std::atomic<std::uint32_t> sleepers;
    alignas(kPair) std::atomic<std::uint64_t> broken;
    std::atomic<std::uint64_t> first_cache;
    std::atomic<std::uint64_t> core_cache;
    std::atomic<std::uint64_t> last_level_cache;
    std::atomic<std::uint64_t> shrink_decision;
    std::atomic<std::uint64_t> shrink_outcome;
    // Who sets it first writes the words, and only then `broken`.
    std::atomic<std::uint32_t> claimed;
    std::uint32_t num_words;
    char words[Breakage::kMostWords];
  };
  struct alignas(kPair) Post {
    FlagLine line;
  };
  struct Control {
    Post posts[kPostLines];
    alignas(kPair) CounterLine finished;
    alignas(kPair) PlacesLine places;
    alignas(kPair) DoorbellLine doorbell;
    alignas(kPair) CallLine call;
    alignas(kPair) HistoryLines history;
    alignas(kLine) std::atomic<std::uint64_t> cores[kMaxCores / 64];
    LifeLine life;
    alignas(kLine) ReasonLines reason;
    ShrinkLines shrink;
  };

  static constexpr std::uint32_t kElsewhere = ~0U;

  Region(UniqueFd memory, const RegionShape& shape);
  // Among the ranks of this host.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t rank) const { return places_.empty() ? rank : places_[rank]; }
  [[nodiscard]] Header* header() const { return reinterpret_cast<Header*>(base_); }
  [[nodiscard]] Control* control(std::uint32_t rank) const {
    TUTTI_ASSERT_SLOW(is_here(rank), "of ranks on other hosts the region holds nothing");
    return reinterpret_cast<Control*>(base_ + kPage + rank * kControlStride);
  }
  // By rank, where there are several hosts: 0, or how many operations it had begun when it left, and 1.
  [[nodiscard]] std::atomic<std::uint64_t>& left_elsewhere(std::uint32_t rank) const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + left_)[rank];
  }
  static_assert(sizeof(Control) <= kPage && sizeof(Header) <= kPage);
  UniqueFd memory_;
  RegionShape shape_;
  std::vector<std::uint32_t> places_;  // by rank; empty: all are on this host
  std::vector<std::uint32_t> here_;    // where some are not: those that are
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t staging_ = 0;
  std::uint64_t staging_stride_ = 0;
  std::uint64_t connections_ = 0;
  std::uint64_t connection_stride_ = 0;
  std::uint64_t message_stride_ = 0;
  std::uint64_t heap_ = 0;
};

}  // namespace tutti::shm
