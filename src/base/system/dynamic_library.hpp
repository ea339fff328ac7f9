// SPDX-License-Identifier: Apache-2.0
// A shared library that is opened while the program runs, where the loader finds it. It stays open until the process
// ends: what such libraries start (threads, handlers at exit) outlives any owner. Copies are the same library.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tutti {

class DynamicLibrary {
 public:
  // The first of these names that can be opened; where none can, an error (Code::unsupported) with the loader's reason.
  [[nodiscard]] static Result<DynamicLibrary> open(std::span<const std::string_view> names);

  [[nodiscard]] const std::string& name() const { return name_; }
  // Null where the library has no such symbol.
  [[nodiscard]] void* symbol(const char* name) const;

  // Sets the function, or says that the library has none of that name. Its type is the caller's word.
  template <typename Function>
  [[nodiscard]] Status find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr ? Status() : missing(name);
  }

 private:
  [[nodiscard]] Status missing(const char* name) const;

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace tutti
