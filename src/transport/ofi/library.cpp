// SPDX-License-Identifier: Apache-2.0
#include "transport/ofi/library.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "base/system/dynamic_library.hpp"

namespace tutti::transport::ofi {

Result<Library> Library::open() {
  constexpr std::array<std::string_view, 1> kNames = {"libfabric.so.1"};
  const Result<DynamicLibrary> opened = DynamicLibrary::open(kNames);
  if (!opened.ok())
    return Status(Code::unsupported, fmt::format("{}; the transport ofi needs libfabric (on Debian: libfabric1)",
                                                 opened.status().message()));
  Library library;
  TUTTI_TRY(opened->find("fi_getinfo", library.get_info));
  TUTTI_TRY(opened->find("fi_freeinfo", library.free_info));
  TUTTI_TRY(opened->find("fi_dupinfo", library.dup_info));
  TUTTI_TRY(opened->find("fi_fabric", library.fabric));
  TUTTI_TRY(opened->find("fi_strerror", library.strerror));
  return library;
}

std::string Library::words_of(std::int64_t error) const { return strerror(static_cast<int>(std::abs(error))); }

}  // namespace tutti::transport::ofi
