// SPDX-License-Identifier: Apache-2.0
// How a rank stores what others read next: through its caches, or past them to memory.
//
// Through the caches is faster where the ranks' cores share one. Where they do not, the reader's cache has to give up
// each line before it can be written, and what is stored there goes at a tenth of the speed; stores past the caches do
// not wait for that, and reading from memory costs little more than reading from a far cache. Which of both it is
// changes while a program runs, as processes and virtual processors are moved; so now and then a copy is timed, and
// each quarter of it by itself, for who reads which part of a slot may differ (docs/design/executor.md has the
// figures). Nobody else needs to know how it was stored.
//
// One belongs to one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/selection/machine_profile.hpp"

namespace tutti {

enum class StoresChoice : std::uint8_t { automatic, cached, past };

class SlotStores {
 public:
  using Clock = std::uint64_t (*)();  // nanoseconds

  // Nothing is timed before as many looks as there are slots: to begin with, the system has no memory for them.
  SlotStores(StoresChoice choice, const MachineProfile& profile, std::uint32_t num_slots, Clock clock = steady_clock);

  // A long copy goes in so many parts, each by itself; a short one as a whole.
  static constexpr std::size_t kNumParts = 4;

  // Copies, so that whatever says so afterwards comes later to any other core.
  void copy(std::byte* to, const std::byte* from, std::uint64_t bytes);

  // Whether a copy of that size is to be left to copy(); otherwise it counts as made, and whoever asks makes it through
  // the caches, in parts if it likes.
  [[nodiscard]] bool takes(std::uint64_t bytes) {
    if (bytes < least_) return false;
    Kind& kind = kind_of(bytes);
    if (kind.num_past == 0 && bytes < kind.before_look) {
      kind.before_look -= bytes;
      return false;
    }
    return true;
  }

  // Whether copies of that size, or some of their parts, go past the caches at present: then this core has nothing of
  // them, nor any use for the lines of the next one.
  [[nodiscard]] bool goes_past(std::uint64_t bytes) { return num_past(bytes) != 0; }
  // Of so many parts; of a short copy all or none.
  [[nodiscard]] std::uint32_t num_past(std::uint64_t bytes) { return bytes < least_ ? 0 : kind_of(bytes).num_past; }

 private:
  struct Part {
    bool is_past = false;
    bool was_slow = false;  // the last look, of those through the caches
  };
  // Of short copies, which use one part, or of long ones.
  struct Kind {
    std::array<Part, kNumParts> parts;
    std::uint32_t num_past = 0;
    std::uint32_t fresh = 0;        // looks
    std::uint64_t between = 0;      // bytes, of looks through the caches
    std::uint64_t before_look = 0;  // bytes
  };

  static std::uint64_t steady_clock();
  [[nodiscard]] Kind& kind_of(std::uint64_t bytes) { return kinds_[bytes <= limits_.short_most ? 0 : 1]; }
  void look(Kind& kind, std::byte* to, const std::byte* from, std::uint64_t bytes);

  // The section `past` of the profile.
  struct Limits {
    std::uint64_t short_most;
    std::uint64_t between_past;
    std::uint64_t counted_least;
    std::uint64_t looked;
    std::uint64_t slow;
    std::uint64_t slow_line_short;
    std::uint64_t slow_line;
  };

  Clock clock_;
  Limits limits_;
  std::uint64_t least_;
  std::array<Kind, 2> kinds_;
};

}  // namespace tutti
