// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/symmetric_heap.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "device/cuda/cuda_status.hpp"

namespace tutti::device {

namespace {

Status nothing_asked_for() { return wrong_argument("symmetric memory of 0 bytes is asked for; 1 is the least"); }

Status differing_sizes(std::uint32_t own, std::uint64_t bytes, std::size_t other, std::uint64_t other_bytes) {
  return {
      Code::invalid_usage,
      fmt::format("rank {} asks for {} bytes of symmetric memory, and rank {} for {}", own, bytes, other, other_bytes),
      static_cast<int>(other)};
}

Status no_addresses(std::uint64_t bytes) {
  return {Code::system, fmt::format("no addresses are left for {} bytes of symmetric memory", bytes)};
}

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

Status SymmetricHeap::enroll(const void* buffer, std::uint64_t bytes, Rendezvous& rendezvous, cudaStream_t stream) {
  const auto find_own = [&]() -> Result<SharedMemory> {
    if (bytes == 0) return nothing_asked_for();
    if (find(buffer, 0).address != nullptr)
      return Status(Code::invalid_usage, fmt::format("the buffer at {} is symmetric memory already", buffer));
    return SharedMemory::around(buffer, bytes);
  };
  const Result<SharedMemory> own = find_own();
  const bool is_lent = own.status().code() == Code::unsupported;
  const Result<Lending> lending = is_lent ? Lending::of(buffer, bytes, device_) : Result<Lending>(Lending{});
  TUTTI_TRY(agree(rendezvous, is_lent ? lending.status() : own.status()));
  TUTTI_TRY_ASSIGN(const std::vector<std::uint64_t> kinds, exchange(rendezvous, std::uint64_t{is_lent ? 1U : 0U}));
  for (std::size_t rank = 0; rank < kinds.size(); ++rank)
    if ((kinds[rank] != 0) != is_lent)
      return {Code::invalid_usage,
              fmt::format("rank {} registers memory of cudaMalloc, and rank {} memory of virtual memory management; "
                          "all ranks must register the same kind",
                          is_lent ? std::size_t{rank_} : rank, is_lent ? rank : std::size_t{rank_}),
              static_cast<int>(rank)};
  if (is_lent) return enroll_lent(buffer, bytes, *lending, rendezvous, stream);
  TUTTI_TRY_ASSIGN(const std::uint64_t place, share(own, bytes, rendezvous));
  parts_[place].begin = static_cast<const std::byte*>(buffer);
  parts_[place].length = bytes;
  return {};
}

Status SymmetricHeap::enroll_lent(const void* buffer, std::uint64_t bytes, const Lending& own, Rendezvous& rendezvous,
                                  cudaStream_t stream) {
  struct Offer {
    std::uint64_t asked = 0;
    Lending lending;
  };
  TUTTI_TRY_ASSIGN(const std::vector<Offer> offers, exchange(rendezvous, Offer{bytes, own}));
  std::vector<Lending> lendings;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    if (offers[rank].asked != bytes) return differing_sizes(rank_, bytes, rank, offers[rank].asked);
    lendings.push_back(offers[rank].lending);
  }
  // By its place, ranks see that they give back the same part. The least that ranges are divided into does.
  TUTTI_TRY_ASSIGN(const std::uint64_t least, granularity_of(device_));
  const std::optional<std::uint64_t> place = places_.take(least);
  if (!place) return no_addresses(least);
  Part& part = parts_[*place];
  part.bytes = least;
  part.begin = static_cast<const std::byte*>(buffer);
  part.length = bytes;
  part.is_lent = true;
  const Result<std::vector<std::uint64_t>> reached = open_all(lendings, part.others);
  Status status = agree(rendezvous, reached.status());
  if (status.ok()) status = tell_views(part, *reached, rendezvous, stream);
  if (status.ok()) return {};
  unmap_all(*place);
  // Its rank may free the memory as soon as this returns, and by then no other may have it open.
  static_cast<void>(agree(rendezvous, {}));
  return status;
}

Result<std::vector<std::uint64_t>> SymmetricHeap::open_all(const std::vector<Lending>& lendings,
                                                           std::vector<LentMemory>& others) const {
  std::vector<std::uint64_t> reached;
  for (std::uint32_t rank = 0; rank < lendings.size(); ++rank) {
    std::uint64_t address = lendings[rank].base + lendings[rank].skipped;
    if (rank != rank_) {
      Result<LentMemory> memory = LentMemory::open(lendings[rank], device_);
      if (!memory.ok()) return memory.status().with_context(fmt::format("memory of rank {}", rank));
      address = memory->buffer();
      others.push_back(std::move(*memory));
    }
    reached.push_back(address - reinterpret_cast<std::uintptr_t>(base(rank)));
  }
  return reached;
}

Status SymmetricHeap::tell_views(Part& part, const std::vector<std::uint64_t>& reached, Rendezvous& rendezvous,
                                 cudaStream_t stream) const {
  const std::size_t number = reached.size();
  std::vector<std::uint64_t> all(number * number);
  TUTTI_TRY(rendezvous.exchange(std::as_bytes(std::span(reached)), std::as_writable_bytes(std::span(all))));
  std::vector<std::uint64_t> views;
  for (std::size_t reader = 0; reader < number; ++reader)
    views.push_back(all[reader * number + rank_] - reached[rank_]);
  const auto copy = [&]() -> Status {
    TUTTI_TRY_ASSIGN(part.views, DeviceArray::make(number * sizeof views[0], "addresses", stream));
    TUTTI_TRY(cuda_status(
        cudaMemcpyAsync(part.views.data(), views.data(), number * sizeof views[0], cudaMemcpyHostToDevice, stream),
        "copy to the device"));
    return cuda_status(cudaStreamSynchronize(stream), "copy to the device");
  };
  return agree(rendezvous, copy());
}

Result<std::uint64_t> SymmetricHeap::share(const Result<SharedMemory>& own, std::uint64_t bytes,
                                           Rendezvous& rendezvous) {
  TUTTI_TRY(agree(rendezvous, own.status()));
  struct Offer {
    std::uint64_t asked = 0;
    std::uint64_t bytes = 0;
    std::uint64_t skipped = 0;
  };
  TUTTI_TRY_ASSIGN(const std::vector<Offer> offers, exchange(rendezvous, Offer{bytes, own->bytes(), own->skipped()}));
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> skipped;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    if (offers[rank].asked != bytes) return differing_sizes(rank_, bytes, rank, offers[rank].asked);
    sizes.push_back(offers[rank].bytes);
    skipped.push_back(offers[rank].skipped);
  }
  const std::uint64_t most = *std::max_element(sizes.begin(), sizes.end());
  const std::optional<std::uint64_t> place = places_.take(most);
  if (!place) return no_addresses(most);
  parts_[*place].bytes = most;
  parts_[*place].skipped = std::move(skipped);
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
  const bool was_lent = parts_[own].is_lent;
  unmap_all(own);
  // Its rank may free it as soon as this returns, and by then no other may have it open.
  return was_lent ? agree(rendezvous, {}) : Status();
}

bool SymmetricHeap::has_allocated() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const auto& part) { return part.second.begin == base(rank_) + part.first; });
}

KnownBuffer SymmetricHeap::find(const void* buffer, std::uint64_t bytes) const {
  const auto* const address = static_cast<const std::byte*>(buffer);
  for (const auto& [place, part] : parts_) {
    if (part.begin == nullptr || address < part.begin || address >= part.begin + part.length ||
        bytes > part.length - static_cast<std::uint64_t>(address - part.begin))
      continue;
    const auto offset = static_cast<std::uint64_t>(address - part.begin);
    if (part.is_lent)
      return {.address = const_cast<std::byte*>(address),
              .views = part.views.data<const std::uint64_t>(),
              .place = place + offset};
    return {.address = base(rank_) + place + part.skipped[rank_] + offset,
            .place = place + offset,
            .skipped = &part.skipped};
  }
  return {};
}

}  // namespace tutti::device
