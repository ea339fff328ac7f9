// SPDX-License-Identifier: Apache-2.0
#include "mpi_recorder/communicators.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi_recorder/requests.hpp"

namespace tutti::mpi_recorder {

std::atomic<std::uint64_t> changes = 1;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): see the header

namespace {

struct Known {
  Member member;
  std::unique_ptr<Recorder> recorder;
};

struct All {
  // Held while a communicator is looked at. Not the one below: MPI may hold locks of its own while it tells of an end.
  std::mutex making;
  std::mutex mutex;
  std::map<Handle, Known> known;  // guarded by mutex
  // Of communicators that are freed, by ranks and rank: the next ones alike go on with them, so that thousands are one
  // file. Guarded by mutex.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::unique_ptr<Recorder>>> unused;
  std::mutex recorders;
  std::string folder;
  std::atomic<bool> has_ended = false;
};

// Never destroyed: programs call until their very end.
All& all() {
  static auto* const all = [] {
    auto* const made = new All();
    const char* const folder = std::getenv("TUTTI_RECORD");
    if (folder != nullptr) made->folder = folder;
    return made;
  }();
  return *all;
}

struct Last {
  std::uint64_t changes = 0;
  Handle communicator = 0;
  Member member;
};
thread_local Last last;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a thread's own

void warn(std::string_view text) {
  static std::atomic<bool> has_warned = false;
  if (has_warned.exchange(true)) return;
  std::fprintf(stderr, "tutti: TUTTI_RECORD: %.*s\n", static_cast<int>(text.size()), text.data());
}

std::unique_ptr<Recorder> recorder_for(const Mpi& mpi, const Member& member, int rank_in_world) {
  {
    const std::scoped_lock lock(all().mutex);
    std::vector<std::unique_ptr<Recorder>>& unused = all().unused[{member.ranks, member.rank}];
    if (!unused.empty()) {
      std::unique_ptr<Recorder> recorder = std::move(unused.back());
      unused.pop_back();
      return recorder;
    }
  }
  return std::make_unique<Recorder>(Recorder::Options{.folder = all().folder,
                                                      .api = mpi.name(),
                                                      .ranks = member.ranks,
                                                      .rank = member.rank,
                                                      .line = static_cast<std::uint32_t>(rank_in_world),
                                                      .warn = warn});
}

Known make(const Mpi& mpi, Handle communicator) {
  Known known;
  Mpi::Membership found;
  if (!mpi.find_membership(communicator, found) || !mpi.watch_end_of(communicator)) return known;
  known.member = {.ranks = static_cast<std::uint32_t>(found.ranks), .rank = static_cast<std::uint32_t>(found.rank)};
  known.recorder = recorder_for(mpi, known.member, found.rank_in_world);
  known.member.recorder = known.recorder.get();
  return known;
}

}  // namespace

bool is_recording() { return !all().folder.empty() && !all().has_ended.load(std::memory_order_relaxed); }

Member member_of(const Mpi& mpi, Handle communicator) {
  const std::uint64_t present = changes.load(std::memory_order_acquire);
  if (last.changes == present && last.communicator == communicator) return last.member;
  const auto find = [&] {
    const std::scoped_lock lock(all().mutex);
    const auto place = all().known.find(communicator);
    return place == all().known.end() ? std::optional<Member>() : place->second.member;
  };
  try {
    std::optional<Member> found = find();
    if (!found) {
      const std::scoped_lock making(all().making);
      found = find();
      if (!found) {
        Known made = make(mpi, communicator);
        found = made.member;
        const std::scoped_lock lock(all().mutex);
        all().known.emplace(communicator, std::move(made));
      }
    }
    last = {.changes = present, .communicator = communicator, .member = *found};
    return *found;
  } catch (const std::exception&) {
    return {};  // without memory the program goes on, and is not recorded
  }
}

void forget(const Mpi& mpi, Handle communicator) {
  // Held until the recorder is gone: another thread may wait for what it has started there.
  const auto recorders = lock_recorders(mpi);
  Known gone;
  {
    const std::scoped_lock lock(all().mutex);
    const auto place = all().known.find(communicator);
    if (place == all().known.end()) return;
    gone = std::move(place->second);
    all().known.erase(place);
    changes.fetch_add(1, std::memory_order_release);
  }
  if (gone.recorder == nullptr) return;
  forget_requests_of(*gone.recorder);
  const std::scoped_lock lock(all().mutex);
  all().unused[{gone.member.ranks, gone.member.rank}].push_back(std::move(gone.recorder));
}

void forget_all(const Mpi& mpi) {
  const auto recorders = lock_recorders(mpi);
  all().has_ended.store(true, std::memory_order_relaxed);
  forget_all_requests();
  const std::scoped_lock lock(all().mutex);
  all().known.clear();
  all().unused.clear();
  changes.fetch_add(1, std::memory_order_release);
}

std::unique_lock<std::mutex> lock_recorders(const Mpi& mpi) {
  return mpi.has_threads() ? std::unique_lock(all().recorders) : std::unique_lock<std::mutex>();
}

}  // namespace tutti::mpi_recorder
