// SPDX-License-Identifier: Apache-2.0
// Symmetric device memory: for each rank a range of addresses, in which the memory of all ranks' equal calls has equal
// offsets. So a rank names a place by its offset, and others find it in their range for that rank. Memory of cudaMalloc
// cannot be mapped there: each rank reaches it at an address of its own, so others name it to that rank by this
// address. All ranks make equal calls in the same order, but for find(). Movable; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <cuda_runtime_api.h>

#include "base/status.hpp"
#include "device/cuda/device_array.hpp"
#include "device/cuda/lent_memory.hpp"
#include "device/cuda/rendezvous.hpp"
#include "device/cuda/shared_memory.hpp"
#include "device/walk/places.hpp"

namespace tutti::device {

// A buffer as the ranks know it.
struct KnownBuffer {
  std::byte* address = nullptr;          // null: it is not, or not as a whole, in one symmetric part
  const std::uint64_t* views = nullptr;  // WalkCall::input_views
  // Where it is in what the ranks allocated or enrolled together, which may be the same on all of them.
  std::uint64_t place = 0;
  const std::vector<std::uint64_t>* skipped = nullptr;  // of all ranks (Part); null for memory of cudaMalloc
};

class SymmetricHeap {
 public:
  // Addresses for `span` bytes of each rank, which all ranks pass alike.
  [[nodiscard]] static Result<SymmetricHeap> make(int device, std::uint32_t rank, std::uint32_t num_ranks,
                                                  std::uint64_t span);

  [[nodiscard]] std::byte* base(std::uint32_t rank) const { return ranges_[rank].base(); }

  // This rank's part of new memory, zeroed; `bytes` are equal on all ranks. An error on all ranks where one fails.
  [[nodiscard]] Result<std::byte*> allocate(std::uint64_t bytes, Rendezvous& rendezvous, cudaStream_t stream);
  // Makes memory of the program symmetric. Ranks pass equal sizes; their buffers may lie anywhere.
  [[nodiscard]] Status enroll(const void* buffer, std::uint64_t bytes, Rendezvous& rendezvous, cudaStream_t stream);
  // Ends what allocate() returned or enroll() was given. By then nothing on any rank's device may use it.
  [[nodiscard]] Status release(const void* memory, Rendezvous& rendezvous);

  // Whether memory of allocate() is there, which the program's own kernels may be using.
  [[nodiscard]] bool has_allocated() const;

  [[nodiscard]] KnownBuffer find(const void* buffer, std::uint64_t bytes) const;
  // Of a buffer that is at the same place on all ranks, and not of cudaMalloc: where `rank` has it.
  [[nodiscard]] std::byte* reach(std::uint32_t rank, const KnownBuffer& buffer) const {
    return base(rank) + buffer.place + (*buffer.skipped)[rank];
  }

 private:
  struct Part {
    std::uint64_t bytes = 0;  // of its place
    const std::byte* begin = nullptr;
    std::uint64_t length = 0;            // from there on
    std::vector<std::uint64_t> skipped;  // by rank, where in its place `begin` is
    // Of cudaMalloc: it has a place, where nothing is mapped.
    bool is_lent = false;
    std::vector<LentMemory> others;
    DeviceArray views;  // a word for each rank
  };

  SymmetricHeap(int device, std::uint32_t rank, std::uint64_t span) : device_(device), rank_(rank), places_(span) {}
  // Shares this rank's memory, and maps that of all ranks at one place.
  [[nodiscard]] Result<std::uint64_t> share(const Result<SharedMemory>& own, std::uint64_t bytes,
                                            Rendezvous& rendezvous);
  [[nodiscard]] Status map_all(std::uint64_t place, const SharedMemory& own, const std::vector<std::uint64_t>& sizes,
                               Rendezvous& rendezvous);
  [[nodiscard]] Status enroll_lent(const void* buffer, std::uint64_t bytes, const Lending& own, Rendezvous& rendezvous,
                                   cudaStream_t stream);
  // Of all ranks' buffers, the addresses at which this one reaches them, from its bases on.
  [[nodiscard]] Result<std::vector<std::uint64_t>> open_all(const std::vector<Lending>& lendings,
                                                            std::vector<LentMemory>& others) const;
  [[nodiscard]] Status tell_views(Part& part, const std::vector<std::uint64_t>& reached, Rendezvous& rendezvous,
                                  cudaStream_t stream) const;
  void unmap_all(std::uint64_t place);

  int device_;
  std::uint32_t rank_;
  Places places_;
  std::vector<AddressRange> ranges_;     // by rank
  std::map<std::uint64_t, Part> parts_;  // by place
};

}  // namespace tutti::device
