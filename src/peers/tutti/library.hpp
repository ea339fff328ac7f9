// SPDX-License-Identifier: Apache-2.0
// What both workers of Tutti, on processors and on devices, do alike with its C API. One thread.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "peers/peer.hpp"
#include <tutti/tutti.h>

namespace tutti::peers {

// Where buffers are: ordinary or symmetric.
inline constexpr std::string_view kMemoryVariable = "BENCH_MEMORY";
[[nodiscard]] Result<bool> wants_symmetric(const Environment& environment);

// "tuttiCommCount: …" where it failed, with the library's own message.
[[nodiscard]] Status status_of(const char* call, tuttiResult_t result, tuttiComm_t comm);
// "Tutti 0.1.0".
[[nodiscard]] std::string tutti_version();

// A communicator of ranks of this host, who meet where the harness says.
[[nodiscard]] Result<tuttiComm_t> meet_on_this_host(const Environment& environment, int rank, int num_ranks);

// Whether the setting makes the library take something other than what it would by itself.
[[nodiscard]] bool forces(const harness::Setting& setting);

}  // namespace tutti::peers
