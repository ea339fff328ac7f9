// SPDX-License-Identifier: Apache-2.0
// Polls a store, for pages that show new rows. It asks for the number of changes, which costs microseconds, and for the
// runs only if that has changed. A store that can only be read as it lies there (Store::is_fixed) is opened anew when
// its file has changed. Only reads.
//
// Thread-safe. It has a thread and a connection to the store of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/store/store.hpp"

namespace tutti::cli {

struct WatchedRun {
  harness::StoredRun run;
  std::vector<std::string> peers;
};

// What a store had when it was last looked at. Never changes.
struct StoreState {
  std::uint64_t number = 0;      // another one after each change
  std::vector<WatchedRun> runs;  // latest first
  std::string trouble;           // why it cannot be read now; empty if it can
};

class StoreWatch {
 public:
  static constexpr std::chrono::milliseconds kInterval{500};
  // Others write for milliseconds. A store that is locked for longer is trouble that readers see.
  static constexpr std::chrono::milliseconds kPatience{2'000};

  // The store need not be there yet. An error if no thread can be started.
  [[nodiscard]] static Result<std::unique_ptr<StoreWatch>> start(std::string path);
  StoreWatch(const StoreWatch&) = delete;
  StoreWatch& operator=(const StoreWatch&) = delete;
  ~StoreWatch();

  [[nodiscard]] std::shared_ptr<const StoreState> state() const;
  // Waits for a state with another number, for so long at most; then returns the present one.
  [[nodiscard]] std::shared_ptr<const StoreState> wait_for_other(std::uint64_t number,
                                                                 std::chrono::milliseconds longest) const;

 private:
  explicit StoreWatch(std::string path) : path_(std::move(path)), state_(std::make_shared<StoreState>()) {}
  void watch();
  void look();
  // The file as it lies there now. A log beside it has what is not in the file yet.
  struct Seen {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t bytes = 0;
    std::int64_t written_s = 0;
    std::int64_t written_ns = 0;
    bool has_log = false;

    bool operator==(const Seen&) const = default;
  };
  [[nodiscard]] std::optional<Seen> see() const;
  [[nodiscard]] static bool is_young(const Seen& seen);
  [[nodiscard]] bool must_open_anew(const std::optional<Seen>& now) const;
  [[nodiscard]] Result<std::vector<WatchedRun>> read_runs();
  void show(std::vector<WatchedRun> runs);
  void show_trouble(std::string trouble);
  void put(std::shared_ptr<StoreState> next);

  const std::string path_;
  // Of the thread alone.
  std::optional<harness::Store> store_;
  std::optional<Seen> opened_;  // what is open, as it was then
  bool opened_young_ = false;   // when it was opened, it had just been written
  std::optional<std::int64_t> version_;
  struct Peers {
    std::uint64_t num_rows = 0;
    std::vector<std::string> names;
  };
  std::map<std::int64_t, Peers> peers_;

  mutable std::mutex mutex_;  // of what follows
  mutable std::condition_variable changed_;
  std::shared_ptr<const StoreState> state_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace tutti::cli
