// SPDX-License-Identifier: Apache-2.0
// The libraries that `tutti export` writes for, as data. Reads files; main thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "cli/bench/bench_world.hpp"
#include "tune/export/rules.hpp"

namespace tutti::cli {

struct ExportChoice {
  std::string to;
  std::string release;  // of Open MPI; empty: what Debian 12 has
  std::string plugin;   // of NCCL: tutti or example; empty: tutti
  std::string base;     // of MPICH: a selection file or a library; empty: the library that Tutti was built with
};

// From rules to the file's text; it may be asked again with fewer rules.
using Translate = std::function<Result<tune::Exported>(tune::Rules)>;

struct ExportFormat {
  std::string peer;
  tune::ForcedBy forced_by;
  Translate translate;
  bool can_verify = false;  // a library reads the file by itself, and is a peer
};

// Everything is looked up and read. The world must live as long as what is returned.
[[nodiscard]] Result<ExportFormat> find_format(const ExportChoice& choice, const BenchWorld& world);

// "openmpi, mpich, nccl, ucc".
[[nodiscard]] std::string names_of_formats();

}  // namespace tutti::cli
