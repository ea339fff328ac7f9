// SPDX-License-Identifier: Apache-2.0
#include "mpi_recorder/requests.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace tutti::mpi_recorder {

namespace {

struct Pending {
  std::mutex mutex;
  std::map<Handle, Recorder::Cell*> cells;  // guarded by mutex
  std::atomic<std::size_t> number = 0;
};

Pending& pending() {
  static auto* const pending = new Pending();  // never destroyed
  return *pending;
}

}  // namespace

bool has_pending_requests() { return pending().number.load(std::memory_order_relaxed) > 0; }

void note_request(Handle request, Recorder::Cell& cell) {
  const std::scoped_lock lock(pending().mutex);
  pending().cells[request] = &cell;
  pending().number.store(pending().cells.size(), std::memory_order_relaxed);
}

Recorder::Cell* find_request(Handle request) {
  const std::scoped_lock lock(pending().mutex);
  const auto place = pending().cells.find(request);
  return place == pending().cells.end() ? nullptr : place->second;
}

void forget_request(Handle request) {
  const std::scoped_lock lock(pending().mutex);
  pending().cells.erase(request);
  pending().number.store(pending().cells.size(), std::memory_order_relaxed);
}

void forget_requests_of(const Recorder& recorder) {
  const std::scoped_lock lock(pending().mutex);
  std::erase_if(pending().cells, [&](const auto& each) { return each.second->owner == &recorder; });
  pending().number.store(pending().cells.size(), std::memory_order_relaxed);
}

void forget_all_requests() {
  const std::scoped_lock lock(pending().mutex);
  pending().cells.clear();
  pending().number.store(0, std::memory_order_relaxed);
}

}  // namespace tutti::mpi_recorder
