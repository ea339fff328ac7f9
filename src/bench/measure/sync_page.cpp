// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sync_page.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/relax.hpp"
#include "bench/measure/clock.hpp"

namespace tutti::harness {

SyncPage::SyncPage(SyncPage&& other) noexcept
    : file_(std::move(other.file_)), layout_(std::exchange(other.layout_, nullptr)) {}

SyncPage& SyncPage::operator=(SyncPage&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(layout_, other.layout_);
  return *this;
}

SyncPage::~SyncPage() {
  if (layout_ != nullptr) ::munmap(layout_, sizeof(Layout));
}

Result<SyncPage> SyncPage::create(int num_ranks) {
  UniqueFd file(::memfd_create("tutti-bench", MFD_CLOEXEC));
  if (file.get() < 0) return Status::from_errno("cannot make memory for the ranks to meet in", errno);
  // Pages that no rank uses are never there.
  if (::ftruncate(file.get(), sizeof(Layout)) != 0)
    return Status::from_errno("cannot make memory for the ranks to meet in", errno);
  return map(std::move(file), num_ranks);
}

Result<SyncPage> SyncPage::open(const std::string& path, int num_ranks) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0)
    return Status::from_errno(
        fmt::format("cannot open {}, where the ranks meet (another host, or another user?)", path), errno);
  return map(std::move(file), num_ranks);
}

Result<SyncPage> SyncPage::map(UniqueFd file, int num_ranks) {
  if (num_ranks < 1 || num_ranks > kMostRanks)
    return Status(Code::invalid_argument,
                  fmt::format("there are {} ranks; a group has 1 to {}", num_ranks, kMostRanks));
  void* memory = ::mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return Status::from_errno("cannot map the memory where the ranks meet", errno);
  SyncPage page;
  page.file_ = std::move(file);
  page.layout_ = static_cast<Layout*>(memory);
  return page;
}

std::string SyncPage::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get()); }

template <typename Reached>
bool SyncPage::wait(Reached reached, bool shares_cores) {
  constexpr int kLooks = 200;  // between two looks at whether it is over
  while (true) {
    for (int look = 0; look < kLooks; ++look) {
      if (reached()) return true;
      if (shares_cores) {
        ::sched_yield();
      } else {
        relax();
      }
    }
    if (layout_->end.is_over.load(std::memory_order_relaxed) != 0) return false;
  }
}

SyncPage::Start SyncPage::start_together(int rank, int num_ranks, std::uint64_t iteration, std::int64_t margin,
                                         bool shares_cores) {
  StartLine& line = layout_->start;
  // Release: what a rank did before an iteration is done when another begins it.
  layout_->ranks[rank].arrived.store(iteration, std::memory_order_release);
  if (rank == 0) {
    for (int other = 1; other < num_ranks; ++other) {
      std::atomic<std::uint64_t>& arrived = layout_->ranks[other].arrived;
      if (!wait([&] { return arrived.load(std::memory_order_acquire) >= iteration; }, shares_cores))
        return {.is_over = true};
    }
    line.time.store(now() + margin, std::memory_order_relaxed);
    // Release: partner of the load below, which makes the time readable.
    line.iteration.store(iteration, std::memory_order_release);
  } else if (!wait([&] { return line.iteration.load(std::memory_order_acquire) >= iteration; }, shares_cores)) {
    return {.is_over = true};
  }
  const std::int64_t agreed = line.time.load(std::memory_order_relaxed);
  std::int64_t time = now();
  if (time > agreed) return {.time = time, .is_late = true};
  while (time < agreed) {
    // The last stretch is spun through, so that all begin together.
    if (shares_cores && agreed - time > 5'000) ::sched_yield();
    time = now();
  }
  // Whoever lost its processor on the way comes late all the same, however early the instant was agreed upon. Ranks
  // that share cores lose theirs all the time.
  constexpr std::int64_t kTolerance = 250;
  const std::int64_t tolerance = shares_cores ? std::max(kTolerance, margin / 4) : kTolerance;
  return {.time = time, .is_late = time - agreed > tolerance};
}

bool SyncPage::meet(int rank, int num_ranks, std::uint64_t iteration, bool shares_cores) {
  layout_->ranks[rank].arrived.store(iteration, std::memory_order_release);
  for (int other = 0; other < num_ranks; ++other) {
    std::atomic<std::uint64_t>& arrived = layout_->ranks[other].arrived;
    if (!wait([&] { return arrived.load(std::memory_order_acquire) >= iteration; }, shares_cores)) return false;
  }
  return true;
}

void SyncPage::end() {
  if (layout_ != nullptr) layout_->end.is_over.store(1, std::memory_order_relaxed);
}

}  // namespace tutti::harness
