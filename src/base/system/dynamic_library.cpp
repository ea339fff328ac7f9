// SPDX-License-Identifier: Apache-2.0
#include "base/system/dynamic_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tutti {

Result<DynamicLibrary> DynamicLibrary::open(std::span<const std::string_view> names) {
  DynamicLibrary library;
  std::string reason;
  for (const std::string_view name : names) {
    library.name_ = name;
    library.handle_ = ::dlopen(library.name_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ != nullptr) return library;
    if (!reason.empty()) continue;
    reason = ::dlerror();
    // It begins with the name, which is said already.
    if (reason.starts_with(library.name_ + ": ")) reason.erase(0, library.name_.size() + 2);
  }
  return Status(Code::unsupported, fmt::format("{} cannot be opened ({})", fmt::join(names, " or "), reason));
}

void* DynamicLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

Status DynamicLibrary::missing(const char* name) const {
  return {Code::unsupported, fmt::format("{} has no {}", name_, name)};
}

}  // namespace tutti
