// SPDX-License-Identifier: Apache-2.0
#include "mpi_recorder/communicators.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "mpi_recorder/requests.hpp"

namespace tutti::mpi_recorder {

std::atomic<std::uint64_t> changes = 1;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): see the header

namespace {

struct Known {
  Member member;
  std::unique_ptr<Recorder> recorder;
};

struct All {
  std::mutex mutex;
  std::map<Handle, Known> known;  // guarded by mutex
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

Known make(const Mpi& mpi, Handle communicator) {
  Known known;
  Mpi::Membership found;
  if (!mpi.find_membership(communicator, found)) return known;
  known.member = {.rank = static_cast<std::uint32_t>(found.rank), .ranks = static_cast<std::uint32_t>(found.ranks)};
  known.recorder = std::make_unique<Recorder>(Recorder::Options{
      .folder = all().folder,
      .api = mpi.name(),
      .ranks = known.member.ranks,
      .rank = known.member.rank,
      .line = static_cast<std::uint32_t>(found.rank_in_world),
      .warn = [](std::string_view text) {
        std::fprintf(stderr, "tutti: TUTTI_RECORD: %.*s\n", static_cast<int>(text.size()), text.data());
      }});
  known.member.recorder = known.recorder.get();
  return known;
}

}  // namespace

bool is_recording() { return !all().folder.empty() && !all().has_ended.load(std::memory_order_relaxed); }

Member member_of(const Mpi& mpi, Handle communicator) {
  const std::uint64_t present = changes.load(std::memory_order_acquire);
  if (last.changes == present && last.communicator == communicator) return last.member;
  try {
    const std::scoped_lock lock(all().mutex);
    auto place = all().known.find(communicator);
    if (place == all().known.end()) place = all().known.emplace(communicator, make(mpi, communicator)).first;
    last = {.changes = present, .communicator = communicator, .member = place->second.member};
    return last.member;
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
  if (gone.recorder != nullptr) forget_requests_of(*gone.recorder);
}

void forget_all(const Mpi& mpi) {
  const auto recorders = lock_recorders(mpi);
  all().has_ended.store(true, std::memory_order_relaxed);
  forget_all_requests();
  const std::scoped_lock lock(all().mutex);
  all().known.clear();
  changes.fetch_add(1, std::memory_order_release);
}

std::unique_lock<std::mutex> lock_recorders(const Mpi& mpi) {
  return mpi.has_threads() ? std::unique_lock(all().recorders) : std::unique_lock<std::mutex>();
}

}  // namespace tutti::mpi_recorder
