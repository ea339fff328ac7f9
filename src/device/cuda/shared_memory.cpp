// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/shared_memory.hpp"

#include <string>
#include <utility>

#include <cuda.h>
#include <fmt/format.h>

#include "device/cuda/driver.hpp"

namespace tutti::device {

namespace {

CUmemAllocationProp properties_on(int device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  return properties;
}

}  // namespace

Result<std::uint64_t> granularity_of(int device) {
  TUTTI_TRY(driver().status);
  const CUmemAllocationProp properties = properties_on(device);
  std::size_t granularity = 1;
  TUTTI_TRY(driver_status(driver().granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                          "ask how device memory is shared"));
  return std::uint64_t{granularity};
}

Result<SharedMemory> SharedMemory::make(int device, std::uint64_t bytes) {
  TUTTI_TRY_ASSIGN(const std::uint64_t granularity, granularity_of(device));
  if (bytes > UINT64_MAX / 2) return Status(Code::system, fmt::format("cannot have {} bytes of device memory", bytes));
  SharedMemory memory;
  memory.bytes_ = (bytes + granularity - 1) / granularity * granularity;
  const CUmemAllocationProp properties = properties_on(device);
  CUmemGenericAllocationHandle handle = 0;
  TUTTI_TRY(driver_status(driver().create(&handle, memory.bytes_, &properties, 0),
                          fmt::format("have {} bytes of device memory that ranks share", memory.bytes_)));
  memory.handle_ = handle;
  memory.has_handle_ = true;
  return memory;
}

Result<SharedMemory> SharedMemory::open(int descriptor, std::uint64_t bytes) {
  TUTTI_TRY(driver().status);
  SharedMemory memory;
  memory.bytes_ = bytes;
  // The driver takes a descriptor as a pointer.
  void* words = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));  // NOLINT(performance-no-int-to-ptr)
  CUmemGenericAllocationHandle handle = 0;
  TUTTI_TRY(driver_status(driver().import_handle(&handle, words, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                          "open the device memory of another rank"));
  memory.handle_ = handle;
  memory.has_handle_ = true;
  return memory;
}

Result<Allocation> allocation_around(const void* buffer, std::uint64_t bytes) {
  TUTTI_TRY(driver().status);
  const auto address = reinterpret_cast<CUdeviceptr>(buffer);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  TUTTI_TRY(
      driver_status(driver().address_range(&base, &size, address), fmt::format("share the buffer at {}", buffer)));
  const Allocation found = {.base = base, .bytes = size, .skipped = address - base};
  if (bytes > found.bytes - found.skipped)
    return wrong_argument(
        fmt::format("the buffer at {} has {} bytes up to the end of its allocation, and {} are asked "
                    "for",
                    buffer, found.bytes - found.skipped, bytes));
  return found;
}

Result<SharedMemory> SharedMemory::around(const void* buffer, std::uint64_t bytes) {
  TUTTI_TRY_ASSIGN(const Allocation allocation, allocation_around(buffer, bytes));
  CUmemGenericAllocationHandle handle = 0;
  const CUresult retained =
      driver().retain_handle(&handle, reinterpret_cast<void*>(allocation.base));  // NOLINT(performance-no-int-to-ptr)
  const std::string words = fmt::format("share the buffer at {}", buffer);
  if (retained == CUDA_ERROR_INVALID_VALUE)
    return Status(Code::unsupported, fmt::format("cannot {}: it is not of CUDA's virtual memory management", words));
  TUTTI_TRY(driver_status(retained, words));
  SharedMemory memory;
  memory.bytes_ = allocation.bytes;
  memory.skipped_ = allocation.skipped;
  memory.handle_ = handle;
  memory.has_handle_ = true;
  return memory;
}

SharedMemory::~SharedMemory() {
  if (has_handle_) static_cast<void>(driver().release(handle_));
}

Result<UniqueFd> SharedMemory::descriptor() const {
  int descriptor = UniqueFd::kNone;
  TUTTI_TRY(driver_status(driver().export_handle(&descriptor, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                          "share device memory with another rank, by descriptor"));
  return UniqueFd(descriptor);
}

Result<AddressRange> AddressRange::reserve(int device, std::uint64_t bytes) {
  TUTTI_TRY(driver().status);
  AddressRange range;
  CUdeviceptr address = 0;
  TUTTI_TRY(driver_status(driver().reserve(&address, bytes, 0, 0, 0),
                          fmt::format("reserve addresses for {} bytes of device memory", bytes)));
  range.device_ = device;
  range.address_ = address;
  range.bytes_ = bytes;
  return range;
}

Status AddressRange::map(std::uint64_t offset, const SharedMemory& memory) {
  const std::string words = fmt::format("map {} bytes of device memory", memory.bytes_);
  TUTTI_TRY(driver_status(driver().map(address_ + offset, memory.bytes_, 0, memory.handle_, 0), words));
  mapped_[offset] = memory.bytes_;
  const CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_},
                                  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUresult allowed = driver().set_access(address_ + offset, memory.bytes_, &access, 1);
  if (allowed != CUDA_SUCCESS) unmap(offset);
  return driver_status(allowed, fmt::format("reach device memory from device {}", device_));
}

void AddressRange::unmap(std::uint64_t offset) {
  const auto found = mapped_.find(offset);
  if (found == mapped_.end()) return;
  static_cast<void>(driver().unmap(address_ + offset, found->second));
  mapped_.erase(found);
}

AddressRange::~AddressRange() {
  while (!mapped_.empty()) unmap(mapped_.begin()->first);
  if (address_ != 0) static_cast<void>(driver().free(address_, bytes_));
}

}  // namespace tutti::device
