// SPDX-License-Identifier: Apache-2.0
// Workloads: any text is refused with its place, or has entries that can be simulated.
#include <string_view>

#include "data/message_size.hpp"
#include "fuzz.hpp"
#include "workload/workload.hpp"

namespace tutti {
namespace {

using fuzz::require;

void check(std::string_view text) {
  const Result<Workload> workload = read_workload(text, "my.toml");
  if (!workload.ok()) {
    require(workload.status().message().starts_with("my.toml:"), "an error has its place");
    return;
  }
  require(workload->ranks > 0 && !workload->entries.empty(), "there are ranks and calls");
  for (const WorkloadEntry& entry : workload->entries) {
    require(entry.calls > 0 && entry.compute_us >= 0 && entry.root < workload->ranks, "an entry keeps to its bounds");
    require(entry.collective == Collective::barrier ||
                elements_of_block(entry.collective, workload->ranks, entry.bytes, size_of(entry.type)) > 0,
            "it moves something");
  }
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::check(tutti::fuzz::as_text(data, size));
  return 0;
}
