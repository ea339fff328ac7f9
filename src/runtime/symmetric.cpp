#include "runtime/symmetric.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

SymmetricHeap::SymmetricHeap(const shm::Region& region, std::uint32_t rank) : region_(region), rank_(rank) {}

SymmetricHeap::~SymmetricHeap() {
  for (const Segment& segment : segments_) unmap(segment);
}

void SymmetricHeap::unmap(const Segment& segment) const {
  munmap(segment.base, segment.stride * region_.shape().num_ranks);
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
  if (bytes == 0 || bytes > kMostBytes)
    return Status(Code::invalid_argument,
                  fmt::format("cannot allocate {} bytes of symmetric memory; 1 to {} are possible", bytes, kMostBytes));
  const std::uint64_t stride = round_up(bytes, page_bytes()) + kSkew;
  const std::uint64_t whole = round_up(stride * region_.shape().num_ranks, page_bytes());
  const std::uint64_t offset = place_for(whole);
  const auto end = static_cast<off_t>(offset + whole);
  struct stat facts {};
  // Ranks may race to grow the memory, to the same size; it is sealed against shrinking, so none undoes another's.
  if (fstat(region_.descriptor(), &facts) != 0 || (facts.st_size < end && ftruncate(region_.descriptor(), end) != 0)) {
    const int why = errno;
    if (fstat(region_.descriptor(), &facts) != 0 || facts.st_size < end)
      return Status::from_errno(fmt::format("cannot grow the symmetric memory to {} bytes", offset + whole), why);
  }
  const auto own = static_cast<off_t>(offset + rank_ * stride);
  if (fallocate(region_.descriptor(), 0, own, static_cast<off_t>(stride)) != 0) {
    const int why = errno;
    return Status::from_errno(fmt::format("cannot set {} bytes of symmetric memory aside", bytes), why);
  }
  void* base =
      mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, region_.descriptor(), static_cast<off_t>(offset));
  if (base == MAP_FAILED) {
    const int why = errno;
    fallocate(region_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, own, static_cast<off_t>(stride));
    return Status::from_errno(fmt::format("cannot map {} bytes of symmetric memory", whole), why);
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
  if (fallocate(region_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(segment.offset + rank_ * segment.stride), static_cast<off_t>(segment.stride)) != 0)
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
