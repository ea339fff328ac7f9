// SPDX-License-Identifier: Apache-2.0
// The names of functions that a program shows to debuggers alone: most programs export none. Pure but for the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workload/part.hpp"

namespace tutti::cli {

// Remembers the files that it has read; what cannot be read has no names.
class ElfSymbols {
 public:
  // With the function's name, where there is one.
  [[nodiscard]] CallSite named(const CallSite& site);

 private:
  struct Function {
    std::uint64_t begin = 0;  // from where the file is loaded
    std::uint64_t end = 0;
    std::string name;
  };
  using Functions = std::vector<Function>;  // by their begins
  [[nodiscard]] static Functions read(const std::string& path);

  std::map<std::string, Functions> files_;
};

}  // namespace tutti::cli
