// SPDX-License-Identifier: Apache-2.0
#include "mpi_recorder/requests.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace tutti::mpi_recorder {

namespace {

struct Open {
  std::mutex mutex;
  std::map<Handle, Recorder::Cell*> cells;  // guarded by mutex
  std::atomic<std::size_t> number = 0;
};

Open& open() {
  static auto* const open = new Open();  // never destroyed
  return *open;
}

}  // namespace

bool has_open_requests() { return open().number.load(std::memory_order_relaxed) > 0; }

void note_request(Handle request, Recorder::Cell& cell) {
  const std::scoped_lock lock(open().mutex);
  open().cells[request] = &cell;
  open().number.store(open().cells.size(), std::memory_order_relaxed);
}

std::vector<Recorder::Cell*> find_requests(const std::vector<Handle>& requests) {
  std::vector<Recorder::Cell*> found;
  const std::scoped_lock lock(open().mutex);
  for (const Handle request : requests) {
    const auto place = open().cells.find(request);
    found.push_back(place == open().cells.end() ? nullptr : place->second);
  }
  return found;
}

void forget_request(Handle request) {
  const std::scoped_lock lock(open().mutex);
  open().cells.erase(request);
  open().number.store(open().cells.size(), std::memory_order_relaxed);
}

void forget_requests_of(const Recorder& recorder) {
  const std::scoped_lock lock(open().mutex);
  std::erase_if(open().cells, [&](const auto& each) { return each.second->owner == &recorder; });
  open().number.store(open().cells.size(), std::memory_order_relaxed);
}

void forget_all_requests() {
  const std::scoped_lock lock(open().mutex);
  open().cells.clear();
  open().number.store(0, std::memory_order_relaxed);
}

}  // namespace tutti::mpi_recorder
