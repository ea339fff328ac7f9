// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/region.hpp"

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <ctime>
#include <limits>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/take_fd.hpp"
#include "transport/shm/locality.hpp"

namespace tutti::shm {

namespace {

constexpr std::uint64_t kHasWords = std::uint64_t{1} << 63;  // in Header::broken
constexpr std::chrono::milliseconds kPatienceWithWords{20};
constexpr std::uint64_t kHeapAlignment = std::uint64_t{2} << 20;  // a huge page

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// Where each part begins. The connections are twice the square of the ranks here, and the file is sparse: one that is
// never used costs address space only. Between one rank's part and the next there is an odd number of pairs of lines,
// so that equal offsets of different ranks do not fall into the same set of a cache.
struct Offsets {
  explicit Offsets(const RegionShape& shape) {
    const std::uint64_t ranks = shape.num_local();
    constexpr std::uint64_t kPage = 4096;
    left = round_up(kPage + shape.num_ranks * Region::kControlStride, kPage);
    staging = left + (shape.has_hosts() ? round_up(shape.num_ranks * sizeof(std::uint64_t), kPage) : 0);
    staging_stride = shape.num_slots() * shape.staging_room() + kPage + 5 * kPair;
    message_stride = kPair + shape.message_room();
    connection_stride = round_up(kPair + shape.message_depth * message_stride, kPage);
    connections = round_up(staging + ranks * staging_stride, kPage);
    heap = round_up(connections + kNumTraffics * ranks * ranks * connection_stride, kHeapAlignment);
  }
  std::uint64_t left, staging, staging_stride, message_stride, connection_stride, connections, heap;
};

}  // namespace

std::uint64_t region_bytes(const RegionShape& shape) { return Offsets(shape).heap; }

Region::Region(UniqueFd memory, const RegionShape& shape) : memory_(std::move(memory)), shape_(shape) {
  const Offsets offsets(shape);
  left_ = offsets.left;
  staging_ = offsets.staging;
  staging_stride_ = offsets.staging_stride;
  connections_ = offsets.connections;
  connection_stride_ = offsets.connection_stride;
  message_stride_ = offsets.message_stride;
  heap_ = offsets.heap;
}

Result<UniqueFd> make_memory(std::uint64_t bytes) {
  UniqueFd memory = take_fd(memfd_create("tutti", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return Status::from_errno("cannot create shared memory (memfd_create)", errno);
  TUTTI_TRY(grow_memory(memory.get(), bytes));
  if (fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return Status::from_errno("cannot seal the shared memory", errno);
  return memory;
}

Status grow_memory(int memory, std::uint64_t bytes) {
  int why = EFBIG;
  if (bytes <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
    sigset_t too_large;
    sigset_t before;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    why = ftruncate(memory, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    // It has come to this thread, and waits.
    constexpr timespec kNow{};
    if (why == EFBIG) sigtimedwait(&too_large, nullptr, &kNow);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  if (why == 0) return {};
  return Status::from_errno(fmt::format("cannot grow shared memory to {} bytes", bytes), why);
}

Result<std::unique_ptr<Region>> Region::create(const RegionShape& shape) {
  Result<UniqueFd> memory = make_memory(region_bytes(shape));
  if (!memory.ok()) return memory.status();
  return map(std::move(*memory), shape);
}

Result<std::unique_ptr<Region>> Region::map(UniqueFd memory, const RegionShape& shape) {
  const std::uint64_t bytes = region_bytes(shape);
  struct stat facts {};
  if (fstat(memory.get(), &facts) != 0) return Status::from_errno("cannot look at the shared memory", errno);
  if (static_cast<std::uint64_t>(facts.st_size) < bytes)
    return Status(Code::internal,
                  fmt::format("the shared memory has {} bytes, and {} ranks with these settings need {}", facts.st_size,
                              shape.num_ranks, bytes));
  std::unique_ptr<Region> region(new Region(std::move(memory), shape));
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region->memory_.get(), 0);
  if (base == MAP_FAILED) return Status::from_errno(fmt::format("cannot map {} bytes of shared memory", bytes), errno);
  region->base_ = static_cast<std::byte*>(base);
  region->bytes_ = bytes;
  return region;
}

Result<std::unique_ptr<Region>> Region::map(UniqueFd memory, const RegionShape& shape,
                                            const std::vector<std::uint32_t>& here) {
  Result<std::unique_ptr<Region>> region = map(std::move(memory), shape);
  if (!region.ok() || !shape.has_hosts()) return region;
  (*region)->places_.resize(shape.num_ranks, kElsewhere);
  for (std::uint32_t place = 0; place < here.size(); ++place) (*region)->places_[here[place]] = place;
  (*region)->here_ = here;
  return region;
}

Region::~Region() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

std::optional<Breakage> Region::breakage() const {
  const std::uint64_t word = header()->broken.load(std::memory_order_acquire);
  if (word == 0) return std::nullopt;
  Breakage why{broken_by(), static_cast<std::uint32_t>(word)};
  if ((word & kHasWords) != 0) why.words.assign(header()->words, header()->num_words);
  return why;
}

Status Region::bring_near(std::uint32_t rank, bool as_sender) const {
  const std::uint32_t node = own_node();
  for (const Traffic traffic : {Traffic::schedules, Traffic::program})
    for (std::uint32_t peer = 0; peer < shape_.num_ranks; ++peer) {
      if (!is_here(peer)) continue;
      const Connection way = as_sender ? connection(rank, peer, traffic) : connection(peer, rank, traffic);
      TUTTI_TRY(prefer_node(way.taken, connection_stride_, node));
    }
  return {};
}

void Region::break_with(const Breakage& why) const {
  Header& head = *header();
  std::uint64_t word = (std::uint64_t{static_cast<std::uint8_t>(why.code)} << 32) | why.rank;
  if (head.claimed.exchange(1, std::memory_order_relaxed) == 0) {
    head.num_words = static_cast<std::uint32_t>(why.words.copy(head.words, Breakage::kMostWords));
    if (head.num_words > 0) word |= kHasWords;
  } else {
    // Who came first has its words to write, and may be stopped or killed meanwhile.
    const auto patience = std::chrono::steady_clock::now() + kPatienceWithWords;
    while (!is_broken() && std::chrono::steady_clock::now() < patience) sched_yield();
  }
  std::uint64_t none = 0;
  head.broken.compare_exchange_strong(none, word, std::memory_order_acq_rel);
  wake_all();
}

void Region::wake_all() const {
  const auto num_here = static_cast<std::uint32_t>(places_.empty() ? shape_.num_ranks : here_.size());
  for (std::uint32_t i = 0; i < num_here; ++i) {
    const std::uint32_t rank = places_.empty() ? i : here_[i];
    if (doorbell(rank).asleep.load(std::memory_order_relaxed) != 0) wake(rank);
  }
}

void Region::wake(std::uint32_t rank) const {
  DoorbellLine& bell = doorbell(rank);
  // Changing the word first keeps a sleeper awake that is only just about to call the kernel.
  bell.word.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &bell.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tutti::shm
