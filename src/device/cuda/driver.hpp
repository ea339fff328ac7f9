// SPDX-License-Identifier: Apache-2.0
// Functions of CUDA's driver, found at run time: machines without a driver lack its library, so nothing may link with
// it. Thread-safe.
#pragma once

#include <string>

#include <cuda.h>

#include "base/status.hpp"

namespace tutti::device {

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
  decltype(&cuMemRetainAllocationHandle) retain_handle = nullptr;
  decltype(&cuMemGetAddressRange) address_range = nullptr;
  decltype(&cuIpcGetMemHandle) lend = nullptr;
  decltype(&cuIpcOpenMemHandle) open_lent = nullptr;
  decltype(&cuIpcCloseMemHandle) close_lent = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  Status status;  // not ok: one of them is missing, and none may be called
};
[[nodiscard]] const Driver& driver();

// Where the driver's status is ok: an error reads "cannot <what>: <the driver's words>".
[[nodiscard]] Status driver_status(CUresult result, const std::string& what);

}  // namespace tutti::device
