// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sync_page.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/relax.hpp"

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
    if (is_over()) return false;
  }
}

// Release: partner of the load below.
void SyncPage::arrive(int rank, std::uint64_t number) {
  layout_->ranks[rank].arrived.store(number, std::memory_order_release);
}

bool SyncPage::await_all(int num_ranks, std::uint64_t number, bool shares_cores) {
  for (int rank = 0; rank < num_ranks; ++rank) {
    std::atomic<std::uint64_t>& arrived = layout_->ranks[rank].arrived;
    if (!wait([&] { return arrived.load(std::memory_order_acquire) >= number; }, shares_cores)) return false;
  }
  return true;
}

void SyncPage::announce(std::uint64_t number, std::int64_t value) {
  layout_->announcement.value.store(value, std::memory_order_relaxed);
  // Release: partner of the load below, which makes the value readable.
  layout_->announcement.number.store(number, std::memory_order_release);
}

std::optional<std::int64_t> SyncPage::await_announcement(std::uint64_t number, bool shares_cores) {
  AnnouncementLine& line = layout_->announcement;
  if (!wait([&] { return line.number.load(std::memory_order_acquire) >= number; }, shares_cores)) return std::nullopt;
  return line.value.load(std::memory_order_relaxed);
}

void SyncPage::end() {
  if (layout_ != nullptr) layout_->end.is_over.store(1, std::memory_order_relaxed);
}

}  // namespace tutti::harness
