// SPDX-License-Identifier: Apache-2.0
#include "peers/nccl/library.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::peers::nccl {

std::string version_text(int version) {
  const int unit = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / unit, version % unit / 100, version % 100);
}

Result<Library> Library::open(const Vendor& vendor) {
  const Result<DynamicLibrary> opened = DynamicLibrary::open(vendor.library);
  if (!opened.ok())
    return Status(Code::unsupported, fmt::format("{}; {}", opened.status().message(), vendor.library_advice));
  Library library;
  TUTTI_TRY(opened->find("ncclGetVersion", library.get_version));
  TUTTI_TRY(opened->find("ncclGetErrorString", library.get_error_string));
  TUTTI_TRY(library.status_of(library.get_version(&library.version), "ncclGetVersion", nullptr));
  library.name = fmt::format("{} {}", vendor.name, version_text(library.version));
  if (library.version < kLeastVersion)
    return Status(Code::unsupported,
                  fmt::format("{} is too old; {} or later is asked", library.name, version_text(kLeastVersion)));
  TUTTI_TRY(opened->find("ncclGetUniqueId", library.get_unique_id));
  TUTTI_TRY(opened->find("ncclCommInitRank", library.comm_init_rank));
  TUTTI_TRY(opened->find("ncclCommDestroy", library.comm_destroy));
  TUTTI_TRY(opened->find("ncclCommCount", library.comm_count));
  TUTTI_TRY(opened->find("ncclCommUserRank", library.comm_user_rank));
  TUTTI_TRY(opened->find("ncclAllReduce", library.all_reduce));
  TUTTI_TRY(opened->find("ncclAllGather", library.all_gather));
  TUTTI_TRY(opened->find("ncclReduceScatter", library.reduce_scatter));
  TUTTI_TRY(opened->find("ncclBroadcast", library.broadcast));
  TUTTI_TRY(opened->find("ncclReduce", library.reduce));
  TUTTI_TRY(opened->find("ncclSend", library.send));
  TUTTI_TRY(opened->find("ncclRecv", library.recv));
  TUTTI_TRY(opened->find("ncclGroupStart", library.group_start));
  TUTTI_TRY(opened->find("ncclGroupEnd", library.group_end));
  static_cast<void>(opened->find("ncclGetLastError", library.get_last_error));
  return library;
}

Status Library::status_of(int result, const char* call, Comm* comm) const {
  if (result == 0) return {};
  const char* more = get_last_error != nullptr ? get_last_error(comm) : nullptr;
  std::string words = fmt::format("{}: {} ({})", call, get_error_string(result), result);
  if (more != nullptr && *more != '\0') words += fmt::format(": {}", printable(trim(more)));
  return {Code::system, words};
}

}  // namespace tutti::peers::nccl
