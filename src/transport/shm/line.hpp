// SPDX-License-Identifier: Apache-2.0
// The cache lines that ranks on one host talk through. Each line has one writer; the comments name it and the partner
// of each memory order. All live in the shared region (region.hpp), zero-initialised by the kernel.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tutti::shm {

inline constexpr std::size_t kLine = 64;
// Processors fetch lines in pairs: who looks at a line takes its neighbour away from whoever is about to write that. So
// what is polled begins such a pair, and what its writer writes next is in none of those that others poll now
// (docs/design/executor.md has what it costs).
inline constexpr std::size_t kPair = 2 * kLine;
// What fits into the flag's own line, so that flag and payload cross in one transfer.
inline constexpr std::size_t kInlineBytes = 48;

// A post, or the head of a message. Its sequence is stored with release after the rest and loaded with acquire before
// it, so whoever sees the number sees what it announces.
struct alignas(kLine) FlagLine {
  // These two are written together where the processor can (store_flag).
  std::atomic<std::uint64_t> sequence;
  std::byte payload[kInlineBytes];
  // The operation it belongs to (CallDescription), so that mismatched calls are found. Atomic because a post without
  // payload may be followed by one that uses its line again while a slow rank still looks (Executor::differing_post).
  std::atomic<std::uint64_t> description;
};
static_assert(sizeof(FlagLine) == kLine);

// A number that only grows. Stored with release when what it counts is done, loaded with acquire by who builds on it.
struct alignas(kLine) CounterLine {
  std::atomic<std::uint64_t> value;
};

// What a rank sleeps on. `asleep` is written by the sleeper, `word` by whoever wakes it (waiter.cpp).
struct alignas(kLine) DoorbellLine {
  std::atomic<std::uint32_t> word;
  std::atomic<std::uint32_t> asleep;
  // In a long wait, when the rank last looked whether to go on: nanoseconds of the steady clock; 0 outside of one. Who
  // waits and does not look any more is stopped.
  std::atomic<std::int64_t> looked;
  // Where ranks share cores, what the rank waits for, so that others on its core know whether it could use that: a
  // post, by who makes it and its number; 0 where it is something else, or nothing. And one more than the core on which
  // it last had a turn in such a wait.
  std::atomic<std::uint64_t> awaited_post;
  std::atomic<std::uint32_t> awaited_rank;
  std::atomic<std::uint32_t> core;
  // In a long wait, what the rank waits for (runtime/lateness.hpp), for the others' messages: a transfer, or a call
  // outside of the operations; 0: neither.
  std::atomic<std::uint64_t> awaited;
  // In a long wait, one more than the rank on another host that this rank's operation waits for; 0: none.
  std::atomic<std::uint32_t> awaited_elsewhere;
};

// Where the buffers are that a rank's posts of this operation are about, by number of the post: the buffer's offset in
// this rank's part of its symmetric segment, or its address in this rank's process. Stored before the post, loaded
// after it, and not stored again before every rank is done with the operation (by-name operations end in that
// knowledge).
inline constexpr std::uint32_t kMaxPlaces = 8;
struct alignas(kLine) PlacesLine {
  std::atomic<std::uint64_t> place[kMaxPlaces];
};

enum class Presence : std::uint32_t {
  none = 0,
  here = 1,  // the rank has mapped the region and filled in its cores
  left = 2,  // it has left in order and begins no further operation
};

// A rank's posts take turns between this many lines, so that a payload stays while the next posts are made.
inline constexpr std::size_t kPostLines = 4;

// Where a rank is: what those who wait long for it look at. The description of operation number n stands at n mod 4 and
// is stored before the number: who reads a number of n to n + 2, the description, and again a number of n to n + 2 has
// that of n, since that of n + 4 comes after the number n + 3.
inline constexpr std::uint64_t kKeptDescriptions = 4;
struct alignas(kLine) CallLine {
  std::atomic<std::uint64_t> operation;  // how many operations it has begun
  std::atomic<std::uint64_t> description[kKeptDescriptions];
  std::atomic<Presence> presence;
  // Stored before the presence.
  std::atomic<std::uint32_t> has_membarrier;
  std::atomic<std::int32_t> process;
  std::atomic<std::uint32_t> is_storing;  // to the memory of another process, by the system
  std::atomic<std::uint64_t> probe;  // where that process has its number, for others to try whether they can have it
  // The last split of the communicator that the rank could not go on with (Communicator::begin_split); 0: none.
  std::atomic<std::uint64_t> failed_split;
};

// The last calls of a rank in which it may be that some hear nothing from others (runtime/history.hpp). Number n stands
// at n mod kKeptCalls, and is stored before the count.
inline constexpr std::uint64_t kKeptCalls = 7;
struct alignas(kLine) HistoryLines {
  struct Entry {
    std::atomic<std::uint64_t> operation;
    std::atomic<std::uint64_t> description;
  };
  std::atomic<std::uint64_t> count;
  Entry entries[kKeptCalls];
};

// Why a rank cannot continue a call that the others wait in. That rank writes it before its refusal.
class ReasonLines {
 public:
  static constexpr std::size_t kMostBytes = 256;

  // Truncated to the available room. Needs no memory.
  void set(std::string_view words) {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      std::uint64_t packed = 0;
      const std::string_view part = words.substr(std::min(words.size(), word * sizeof packed)).substr(0, sizeof packed);
      std::memcpy(&packed, part.data(), part.size());
      words_[word].store(packed, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] std::string get() const {
    std::string words;
    for (const std::atomic<std::uint64_t>& each : words_) {
      const std::uint64_t packed = each.load(std::memory_order_relaxed);
      words.append(reinterpret_cast<const char*>(&packed), sizeof packed);
    }
    return words.substr(0, words.find('\0'));
  }

 private:
  std::array<std::atomic<std::uint64_t>, kMostBytes / sizeof(std::uint64_t)> words_;
};

// How surviving ranks agree on a new communicator (runtime/shrink.hpp). Each number is the last attempt for which it
// holds.
struct alignas(kLine) ShrinkLines {
  std::atomic<std::uint64_t> arrived;  // the rank takes part
  std::atomic<std::uint64_t> refused;  // it does not go on, for the reason in ReasonLines: nobody does
  std::atomic<std::uint64_t> joined;   // it has the new communicator
  std::atomic<std::uint64_t> failed;   // it has not, for the reason in ReasonLines
  // The proposed members and their rendezvous. Stored before Region::shrink_decision() names this rank, and not again
  // until all have arrived for a later attempt.
  std::array<std::uint64_t, 16> members;
  std::array<std::byte, 128> id;
};

}  // namespace tutti::shm
