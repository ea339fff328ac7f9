// SPDX-License-Identifier: Apache-2.0
#include "cli/web/store_watch.hpp"

#include <ctime>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti::cli {

Result<std::unique_ptr<StoreWatch>> StoreWatch::start(std::string path) {
  std::unique_ptr<StoreWatch> watch(new StoreWatch(std::move(path)));
  watch->look();
  try {
    watch->thread_ = std::thread([raw = watch.get()] { raw->watch(); });
  } catch (const std::system_error& error) {
    return Status(Code::system, fmt::format("cannot start a thread: {}", error.what()));
  }
  return watch;
}

StoreWatch::~StoreWatch() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const StoreState> StoreWatch::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::shared_ptr<const StoreState> StoreWatch::wait_for_other(std::uint64_t number,
                                                             std::chrono::milliseconds longest) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [&] { return has_ended_ || state_->number != number; });
  return state_;
}

void StoreWatch::watch() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kInterval, [&] { return has_ended_; })) return;
    }
    // No exception may leave the thread. What is short of memory now may not be later.
    try {
      look();
    } catch (const std::exception& error) {
      store_.reset();
      show_trouble(fmt::format("the store cannot be read: {}", error.what()));
    }
  }
}

std::optional<StoreWatch::Seen> StoreWatch::see() const {
  struct stat about {};
  if (::stat(path_.c_str(), &about) != 0) return std::nullopt;
  return Seen{.device = static_cast<std::uint64_t>(about.st_dev),
              .inode = static_cast<std::uint64_t>(about.st_ino),
              .bytes = about.st_size,
              .written_s = about.st_mtim.tv_sec,
              .written_ns = about.st_mtim.tv_nsec,
              .has_log = ::access((path_ + "-wal").c_str(), F_OK) == 0};
}

// The clock of files stands still for some milliseconds: what was written so lately may be written again without a
// trace.
bool StoreWatch::is_young(const Seen& seen) {
  constexpr std::int64_t kYoung_ns = 50'000'000;
  std::timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t age_ns = (now.tv_sec - seen.written_s) * 1'000'000'000 + now.tv_nsec - seen.written_ns;
  return age_ns < kYoung_ns;
}

// A store may be deleted and made anew, as by a checkout; a connection would go on with the old one.
bool StoreWatch::must_open_anew(const std::optional<Seen>& now) const {
  if (!store_ || !now || !opened_) return true;
  if (store_->is_fixed()) return *now != *opened_ || opened_young_;
  return now->device != opened_->device || now->inode != opened_->inode;
}

void StoreWatch::look() {
  if (const std::optional<Seen> now = see(); must_open_anew(now)) {
    store_.reset();
    opened_ = now;
    opened_young_ = now && is_young(*now);
  }
  if (!store_) {
    version_.reset();
    peers_.clear();
    Result<harness::Store> store = harness::Store::open_to_read(path_, kPatience);
    if (!store.ok()) return show_trouble(store.status().to_string());
    store_.emplace(std::move(*store));
  }
  const Result<std::int64_t> version = store_->data_version();
  if (version.ok() && version_ == *version) return;
  Result<std::vector<WatchedRun>> runs = version.ok() ? read_runs() : version.status();
  if (!runs.ok()) {
    // It is opened anew the next time, so that what was wrong once need not stay so.
    store_.reset();
    return show_trouble(runs.status().to_string());
  }
  version_ = *version;
  show(std::move(*runs));
}

Result<std::vector<WatchedRun>> StoreWatch::read_runs() {
  TUTTI_TRY_ASSIGN(std::vector<harness::StoredRun> runs, store_->runs());
  std::vector<WatchedRun> watched;
  std::map<std::int64_t, Peers> peers;
  for (harness::StoredRun& run : runs) {
    Peers& known = peers[run.id];
    const auto before = peers_.find(run.id);
    if (before != peers_.end() && before->second.num_rows == run.num_rows) {
      known = before->second;
    } else {
      TUTTI_TRY_ASSIGN(known.names, store_->peers_of(run.id));
      known.num_rows = run.num_rows;
    }
    std::vector<std::string> names = known.names;
    watched.push_back({std::move(run), std::move(names)});
  }
  peers_ = std::move(peers);
  return watched;
}

void StoreWatch::show(std::vector<WatchedRun> runs) {
  auto next = std::make_shared<StoreState>();
  next->runs = std::move(runs);
  put(std::move(next));
}

// What was there before stays.
void StoreWatch::show_trouble(std::string trouble) {
  const std::shared_ptr<const StoreState> before = state();
  if (trouble == before->trouble) return;
  auto next = std::make_shared<StoreState>();
  next->runs = before->runs;
  next->trouble = std::move(trouble);
  put(std::move(next));
}

void StoreWatch::put(std::shared_ptr<StoreState> next) {
  {
    const std::lock_guard lock(mutex_);
    next->number = state_->number + 1;
    state_ = std::move(next);
  }
  changed_.notify_all();
}

}  // namespace tutti::cli
