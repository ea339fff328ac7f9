// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator/symmetric.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counted.hpp"
#include "base/system/memory_limits.hpp"

namespace tutti {

namespace {

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Equal offsets of different ranks' parts must differ within a page: a pass that writes two streams whose addresses
// agree in their low 12 bits is 2.7 times slower (docs/design/executor.md). Half a page apart, and a line, so that the
// third rank does not meet the first again.
constexpr std::uint64_t kSkew = 4096 + 2048 + 64;
constexpr std::uint64_t kMostSymmetric = std::uint64_t{1} << 40;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// Maps that much of the file as far behind a multiple of the huge page as it begins behind one there, since only then
// can a huge page of the file be one of the mapping. MAP_FAILED, and errno, where that cannot be.
void* map_aligned(int file, std::uint64_t offset, std::uint64_t bytes) {
  void* const room = mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  const auto begin = reinterpret_cast<std::uintptr_t>(room);
  const std::uint64_t before = (offset - begin) % kHugePage;  // modulo 2^64, which the huge page divides
  std::byte* const wanted = static_cast<std::byte*>(room) + before;
  void* const mapped =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) {
    const int why = errno;
    munmap(room, bytes + kHugePage);
    errno = why;
    return MAP_FAILED;
  }
  if (before > 0) munmap(room, before);
  munmap(wanted + bytes, kHugePage - before);
  return mapped;
}

// Why it failed, or 0. Linux before 6.11 gives up at any signal, and a profiler's come often: so in pieces, each of
// which gets through between two of them.
int set_aside(int file, std::uint64_t begin, std::uint64_t bytes) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  for (std::uint64_t done = 0; done < bytes; done += kPiece)
    while (fallocate(file, 0, static_cast<off_t>(begin + done), static_cast<off_t>(std::min(kPiece, bytes - done))) !=
           0)
      if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

// Whole pages, each of which one rank alone sets aside and gives back: that in which its part begins belongs to the one
// before it, whose part ends there.
SymmetricHeap::Pages SymmetricHeap::own_pages(std::uint64_t offset, std::uint64_t stride) const {
  const std::uint64_t begin = round_up(rank_ * stride, page_bytes());
  return {offset + begin, round_up((rank_ + 1) * stride, page_bytes()) - begin};
}

SymmetricHeap::SymmetricHeap(const shm::Region& region, std::uint32_t rank) : region_(region), rank_(rank) {}

SymmetricHeap::~SymmetricHeap() {
  for (const Segment& segment : segments_) unmap(segment);
}

void SymmetricHeap::unmap(const Segment& segment) const {
  munmap(segment.base, round_up(segment.stride * region_.shape().num_ranks, page_bytes()));
}

// The first gap that is wide enough.
std::uint64_t SymmetricHeap::place_for(std::uint64_t bytes) const {
  std::uint64_t place = region_.heap_offset();
  for (const Segment& segment : segments_) {
    if (segment.offset - place >= bytes) break;
    place = segment.offset + round_up(segment.stride * region_.shape().num_ranks, page_bytes());
  }
  return place;
}

Result<std::byte*> SymmetricHeap::allocate(std::uint64_t bytes) {
  // Counted where it fails too: it may succeed on others.
  const std::uint64_t number = ++allocations_ % SymmetricBuffer::kNumSegments;
  if (bytes == 0 || bytes > kMostSymmetric)
    return Status(
        Code::invalid_argument,
        fmt::format("cannot allocate {} bytes of symmetric memory; 1 to {} are possible", bytes, kMostSymmetric));
  const std::uint64_t stride = round_up(bytes, page_bytes()) + kSkew;
  const std::uint64_t whole = round_up(stride * region_.shape().num_ranks, page_bytes());
  const std::uint64_t offset = place_for(whole);
  // Beyond what there is, setting memory aside would have the system end processes, where it can be that patient.
  // The ranks of a host mostly share a control group.
  if (const auto memory = MemoryLimits::of_this_process(); whole > memory.all || stride > memory.available)
    return Status(Code::system,
                  fmt::format("cannot set {} of symmetric memory aside on each of {}: {}", counted(bytes, "byte"),
                              counted(region_.shape().num_ranks, "rank"), memory.to_string()));
  const auto is_large_enough = [&] {
    struct stat facts {};
    return fstat(region_.descriptor(), &facts) == 0 && facts.st_size >= static_cast<off_t>(offset + whole);
  };
  // Ranks may race to grow the memory, to the same size; it is sealed against shrinking, so none undoes another's.
  if (!is_large_enough())
    if (Status grown = shm::grow_memory(region_.descriptor(), offset + whole); !grown.ok() && !is_large_enough())
      return grown;
  void* const base = map_aligned(region_.descriptor(), offset, whole);
  if (base == MAP_FAILED) {
    const int why = errno;
    return Status::from_errno(fmt::format("cannot map {} bytes of symmetric memory", whole), why);
  }
  madvise(base, whole, MADV_HUGEPAGE);  // where the system has none to give, it says so, and that is all
  const Pages own = own_pages(offset, stride);
  // By way of the mapping, since where huge pages are given to those who ask, a file cannot ask. Older systems know
  // nothing of this, and where it fails the next says why.
  madvise(static_cast<std::byte*>(base) + (own.begin - offset), own.bytes, MADV_POPULATE_WRITE);
  if (const int why = set_aside(region_.descriptor(), own.begin, own.bytes); why != 0) {
    munmap(base, whole);
    static_cast<void>(give_back(own));
    return Status::from_errno(fmt::format("cannot set {} of symmetric memory aside", counted(bytes, "byte")), why);
  }
  const Segment segment{static_cast<std::byte*>(base), offset, stride, bytes, number};
  segments_.insert(std::upper_bound(segments_.begin(), segments_.end(), segment,
                                    [](const Segment& a, const Segment& b) { return a.offset < b.offset; }),
                   segment);
  return segment.base + rank_ * stride;
}

Status SymmetricHeap::free(const void* part) {
  const auto found = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return segment.base + rank_ * segment.stride == part;
  });
  if (found == segments_.end())
    return {Code::invalid_argument,
            fmt::format("{} is not the beginning of symmetric memory of this communicator", part)};
  const Segment segment = *found;
  segments_.erase(found);
  unmap(segment);
  return give_back(own_pages(segment.offset, segment.stride));
}

Status SymmetricHeap::give_back(const Pages& pages) const {
  if (fallocate(region_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(pages.begin),
                static_cast<off_t>(pages.bytes)) != 0)
    return Status::from_errno("cannot give symmetric memory back", errno);
  return {};
}

std::uint64_t SymmetricHeap::segment_of(const void* part) const {
  for (const Segment& segment : segments_)
    if (segment.base + rank_ * segment.stride == part) return segment.offset;
  return 0;
}

SymmetricBuffer SymmetricHeap::find(const void* buffer, std::uint64_t bytes) const {
  const auto* begin = static_cast<const std::byte*>(buffer);
  for (const Segment& segment : segments_) {
    const std::byte* part = segment.base + rank_ * segment.stride;
    if (begin >= part && begin + bytes <= part + segment.bytes)
      return {segment.base, segment.stride, static_cast<std::uint64_t>(begin - part), segment.number};
  }
  return {};
}

}  // namespace tutti
