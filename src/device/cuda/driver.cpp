// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/driver.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "device/cuda/cuda_status.hpp"

namespace tutti::device {

namespace {

template <class Function>
void find(const char* name, Function& function, Status& status) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  constexpr unsigned kVersion = 12000;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (status.ok()) status = cuda_status(error, fmt::format("find {} in the driver", name));
  if (status.ok() && found == nullptr) status = {Code::unsupported, fmt::format("the driver has no {}", name)};
  function = reinterpret_cast<Function>(found);
}

}  // namespace

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
    find("cuMemRetainAllocationHandle", made.retain_handle, made.status);
    find("cuMemGetAddressRange", made.address_range, made.status);
    find("cuIpcGetMemHandle", made.lend, made.status);
    find("cuIpcOpenMemHandle", made.open_lent, made.status);
    find("cuIpcCloseMemHandle", made.close_lent, made.status);
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

}  // namespace tutti::device
