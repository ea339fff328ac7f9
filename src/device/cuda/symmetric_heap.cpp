// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/symmetric_heap.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "device/cuda/cuda_status.hpp"

namespace tutti::device {

namespace {

Status nothing_asked_for() { return wrong_argument("symmetric memory of 0 bytes is asked for; 1 is the least"); }

}  // namespace

Result<SymmetricHeap> SymmetricHeap::make(int device, std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t span) {
  SymmetricHeap heap(device, rank, span);
  for (std::uint32_t each = 0; each < num_ranks; ++each) {
    TUTTI_TRY_ASSIGN(AddressRange range, AddressRange::reserve(device, span));
    heap.ranges_.push_back(std::move(range));
  }
  return heap;
}

Result<std::byte*> SymmetricHeap::allocate(std::uint64_t bytes, Rendezvous& rendezvous, cudaStream_t stream) {
  TUTTI_TRY_ASSIGN(const std::uint64_t place,
                   share(bytes == 0 ? Result<SharedMemory>(nothing_asked_for()) : SharedMemory::make(device_, bytes),
                         bytes, rendezvous));
  std::byte* const memory = base(rank_) + place;
  Status cleared = cuda_status(cudaMemsetAsync(memory, 0, bytes, stream), "clear device memory");
  if (cleared.ok()) cleared = cuda_status(cudaStreamSynchronize(stream), "clear device memory");
  parts_[place].begin = memory;
  parts_[place].length = bytes;
  if (const Status status = agree(rendezvous, cleared); !status.ok()) {
    unmap_all(place);
    return status;
  }
  return memory;
}

Status SymmetricHeap::enroll(const void* buffer, std::uint64_t bytes, Rendezvous& rendezvous) {
  const auto find_own = [&]() -> Result<SharedMemory> {
    if (bytes == 0) return nothing_asked_for();
    if (find(buffer, 0) != nullptr)
      return Status(Code::invalid_usage, fmt::format("the buffer at {} is symmetric memory already", buffer));
    return SharedMemory::around(buffer, bytes);
  };
  const Result<SharedMemory> own = find_own();
  TUTTI_TRY_ASSIGN(const std::uint64_t place, share(own, bytes, rendezvous));
  parts_[place].begin = static_cast<const std::byte*>(buffer);
  parts_[place].length = bytes;
  parts_[place].skipped = own->skipped();
  return {};
}

Result<std::uint64_t> SymmetricHeap::share(const Result<SharedMemory>& own, std::uint64_t bytes,
                                           Rendezvous& rendezvous) {
  TUTTI_TRY(agree(rendezvous, own.status()));
  struct Offer {
    std::uint64_t asked = 0;
    std::uint64_t bytes = 0;
  };
  TUTTI_TRY_ASSIGN(const std::vector<Offer> offers, exchange(rendezvous, Offer{bytes, own->bytes()}));
  std::vector<std::uint64_t> sizes;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    if (offers[rank].asked != bytes)
      return Status(Code::invalid_usage,
                    fmt::format("rank {} asks for {} bytes of symmetric memory, and rank {} for {}", rank_, bytes, rank,
                                offers[rank].asked),
                    static_cast<int>(rank));
    sizes.push_back(offers[rank].bytes);
  }
  const std::uint64_t most = *std::max_element(sizes.begin(), sizes.end());
  const std::optional<std::uint64_t> place = places_.take(most);
  if (!place) return Status(Code::system, fmt::format("no addresses are left for {} bytes of symmetric memory", most));
  parts_[*place].bytes = most;
  if (const Status status = map_all(*place, *own, sizes, rendezvous); !status.ok()) {
    unmap_all(*place);
    return status;
  }
  return *place;
}

Status SymmetricHeap::map_all(std::uint64_t place, const SharedMemory& own, const std::vector<std::uint64_t>& sizes,
                              Rendezvous& rendezvous) {
  const Result<UniqueFd> shared = own.descriptor();
  TUTTI_TRY(agree(rendezvous, shared.status()));
  std::vector<UniqueFd> descriptors;
  TUTTI_TRY(rendezvous.exchange(shared->get(), descriptors));
  const auto map = [&](std::uint32_t rank) -> Status {
    if (rank == rank_) return ranges_[rank].map(place, own);
    TUTTI_TRY_ASSIGN(const SharedMemory memory, SharedMemory::open(descriptors[rank].get(), sizes[rank]));
    const Status mapped = ranges_[rank].map(place, memory);
    return mapped.ok() ? mapped : mapped.with_context(fmt::format("memory of rank {}", rank));
  };
  Status status;
  for (std::uint32_t rank = 0; status.ok() && rank < ranges_.size(); ++rank) status = map(rank);
  return agree(rendezvous, status);
}

void SymmetricHeap::unmap_all(std::uint64_t place) {
  for (AddressRange& range : ranges_) range.unmap(place);
  places_.give_back(place, parts_[place].bytes);
  parts_.erase(place);
}

Status SymmetricHeap::release(const void* memory, Rendezvous& rendezvous) {
  const auto found =
      std::find_if(parts_.begin(), parts_.end(), [&](const auto& part) { return part.second.begin == memory; });
  const std::uint64_t own = found == parts_.end() ? UINT64_MAX : found->first;
  TUTTI_TRY_ASSIGN(const std::vector<std::uint64_t> places, exchange(rendezvous, own));
  if (own == UINT64_MAX) return wrong_argument(fmt::format("{} is not where symmetric memory begins", memory));
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    if (places[rank] != own)
      return {Code::invalid_usage, fmt::format("rank {} and rank {} free different symmetric memory", rank_, rank),
              static_cast<int>(rank)};
  unmap_all(own);
  return {};
}

bool SymmetricHeap::has_allocated() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const auto& part) { return part.second.begin == base(rank_) + part.first; });
}

std::byte* SymmetricHeap::find(const void* buffer, std::uint64_t bytes) const {
  const auto* const address = static_cast<const std::byte*>(buffer);
  for (const auto& [place, part] : parts_)
    if (part.begin != nullptr && address >= part.begin && address < part.begin + part.length &&
        bytes <= part.length - static_cast<std::uint64_t>(address - part.begin))
      return base(rank_) + place + part.skipped + (address - part.begin);
  return nullptr;
}

}  // namespace tutti::device
