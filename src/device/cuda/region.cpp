// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/region.hpp"

#include <string>
#include <utility>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "device/cuda/cuda_status.hpp"

namespace tutti::device {

namespace {

constexpr std::uint64_t kAligned = 4096;
std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

// Driver functions, found at run time: machines without a driver lack its library, so nothing may link with it.
struct Driver {
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemExportToShareableHandle) export_handle = nullptr;
  decltype(&cuMemImportFromShareableHandle) import_handle = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  Status status;
};

template <class Function>
void find(const char* name, Function& function, Status& status) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  constexpr unsigned kVersion = 12000;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result);
  if (status.ok()) status = cuda_status(error, fmt::format("find {} in the driver", name));
  if (status.ok() && found == nullptr) status = {Code::unsupported, fmt::format("the driver has no {}", name)};
  function = reinterpret_cast<Function>(found);
}

const Driver& driver() {
  static const Driver the_driver = [] {
    Driver made;
    find("cuMemGetAllocationGranularity", made.granularity, made.status);
    find("cuMemCreate", made.create, made.status);
    find("cuMemRelease", made.release, made.status);
    find("cuMemAddressReserve", made.reserve, made.status);
    find("cuMemAddressFree", made.free, made.status);
    find("cuMemMap", made.map, made.status);
    find("cuMemUnmap", made.unmap, made.status);
    find("cuMemSetAccess", made.set_access, made.status);
    find("cuMemExportToShareableHandle", made.export_handle, made.status);
    find("cuMemImportFromShareableHandle", made.import_handle, made.status);
    find("cuGetErrorString", made.error_string, made.status);
    return made;
  }();
  return the_driver;
}

Status driver_status(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return {};
  const char* words = nullptr;
  if (driver().error_string(result, &words) != CUDA_SUCCESS || words == nullptr) words = "unknown error";
  return {Code::system, fmt::format("cannot {}: {}", what, words)};
}

CUmemAllocationProp properties_on(int device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  return properties;
}

// Rounds up to the granularity in which the driver allocates.
Result<std::uint64_t> rounded(int device, std::uint64_t bytes) {
  const CUmemAllocationProp properties = properties_on(device);
  std::size_t granularity = 1;
  TUTTI_TRY(driver_status(driver().granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                          "ask how device memory is shared"));
  return (bytes + granularity - 1) / granularity * granularity;
}

}  // namespace

RegionLayout region_layout(std::uint32_t num_ranks, const Limits& limits, std::uint64_t heap_bytes) {
  RegionLayout layout;
  layout.slots = aligned(std::uint64_t{limits.channels} * num_ranks * sizeof(Entry));
  layout.scratch = layout.slots + aligned(limits.channels * limits.slots_bytes);
  layout.heap = layout.scratch + aligned(limits.channels * limits.scratch_bytes);
  layout.bytes = layout.heap + heap_bytes;
  return layout;
}

struct Region::Mapping {
  ~Mapping() {
    if (is_mapped) static_cast<void>(driver().unmap(address, bytes));
    if (address != 0) static_cast<void>(driver().free(address, bytes));
    if (has_handle) static_cast<void>(driver().release(handle));
  }

  Status map(int device) {
    const std::string words = fmt::format("map {} bytes of device memory", bytes);
    TUTTI_TRY(driver_status(driver().reserve(&address, bytes, 0, 0, 0), words));
    TUTTI_TRY(driver_status(driver().map(address, bytes, 0, handle, 0), words));
    is_mapped = true;
    const CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return driver_status(driver().set_access(address, bytes, &access, 1), words);
  }

  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  std::uint64_t bytes = 0;
  bool has_handle = false;
  bool is_mapped = false;
};

Region::Region(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
Region::Region() = default;
Region::~Region() = default;
Region::Region(Region&& other) noexcept = default;
Region& Region::operator=(Region&& other) noexcept = default;

Result<Region> Region::make(int device, std::uint64_t bytes) {
  TUTTI_TRY(driver().status);
  auto mapping = std::make_unique<Mapping>();
  TUTTI_TRY_ASSIGN(mapping->bytes, rounded(device, bytes));
  const CUmemAllocationProp properties = properties_on(device);
  TUTTI_TRY(driver_status(driver().create(&mapping->handle, mapping->bytes, &properties, 0),
                          fmt::format("have {} bytes of device memory that ranks share", mapping->bytes)));
  mapping->has_handle = true;
  TUTTI_TRY(mapping->map(device));
  Region region(std::move(mapping));
  TUTTI_TRY(cuda_status(cudaMemset(region.base(), 0, bytes), "clear device memory"));
  return region;
}

Result<Region> Region::open(int device, int descriptor, std::uint64_t bytes) {
  TUTTI_TRY(driver().status);
  auto mapping = std::make_unique<Mapping>();
  TUTTI_TRY_ASSIGN(mapping->bytes, rounded(device, bytes));
  // The driver takes a descriptor as a pointer.
  void* handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));  // NOLINT(performance-no-int-to-ptr)
  TUTTI_TRY(driver_status(driver().import_handle(&mapping->handle, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                          "open the device memory of another rank"));
  mapping->has_handle = true;
  TUTTI_TRY(mapping->map(device));
  return Region(std::move(mapping));
}

std::byte* Region::base() const {
  return reinterpret_cast<std::byte*>(mapping_->address);  // NOLINT(performance-no-int-to-ptr)
}

Result<int> Region::descriptor() const {
  int descriptor = -1;
  TUTTI_TRY(
      driver_status(driver().export_handle(&descriptor, mapping_->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                    "share device memory with another rank"));
  return descriptor;
}

}  // namespace tutti::device
