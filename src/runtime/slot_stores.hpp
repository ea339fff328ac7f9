// How a rank stores what others read next: through its caches, or past them to memory.
//
// Through the caches is faster where the ranks' cores share one. Where they do not, the reader's cache has to give up
// each line before it can be written, and what is stored there goes at a tenth of the speed; stores past the caches do
// not wait for that, and reading from memory costs little more than reading from a far cache. Which of both it is
// changes while a program runs, as processes and virtual processors are moved; so now and then a copy is timed
// (docs/design/executor.md has the figures). Nobody else needs to know how it was stored.
//
// One belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

enum class StoresChoice : std::uint8_t { automatic, cached, past };

class SlotStores {
 public:
  using Clock = std::uint64_t (*)();  // nanoseconds

  // Nothing is timed before as many looks as there are slots: to begin with, the system has no memory for them.
  SlotStores(StoresChoice choice, std::uint32_t num_slots, Clock clock = steady_clock);

  // What is shorter always goes through the caches.
  static constexpr std::uint64_t kLeast = 4 << 10;

  // Copies, so that whatever says so afterwards comes later to any other core.
  void copy(std::byte* to, const std::byte* from, std::uint64_t bytes);

  // Whether a copy of that size is to be left to copy(); otherwise it counts as made, and whoever asks makes it through
  // the caches, in parts if it likes.
  [[nodiscard]] bool takes(std::uint64_t bytes) {
    if (bytes < least_) return false;
    if (!is_past_ && bytes < before_look_) {
      before_look_ -= bytes;
      return false;
    }
    return true;
  }

  // Whether copies of that size go past the caches at present: then this core has nothing of them, nor any use for the
  // lines of the next one.
  [[nodiscard]] bool goes_past(std::uint64_t bytes) const { return is_past_ && bytes >= least_; }

 private:
  static std::uint64_t steady_clock();
  void look(std::byte* to, const std::byte* from, std::uint64_t bytes);

  Clock clock_;
  std::uint32_t fresh_;  // looks
  std::uint64_t least_;
  bool is_past_;
  bool was_slow_ = false;      // the last look, of those through the caches
  std::uint64_t before_look_;  // bytes
};

}  // namespace tutti
