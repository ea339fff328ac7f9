// SPDX-License-Identifier: Apache-2.0
// Whether a worker that is built everywhere can do anything here: it is asked, in a process of its own, since what it
// looks at (drivers, devices) takes long and may break down. Blocks; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/units.hpp"

namespace tutti::peers {

inline constexpr const char* kProbeOption = "--probe";

// What the worker found: "NCCL 2.21.5, 8 devices". An error (Code::unsupported) says what is missing.
[[nodiscard]] Result<std::string> probe(const std::string& worker, const std::vector<std::string>& environment,
                                        Nanos timeout = Nanos{30'000'000'000});

// The worker's side: says what was found, or what is missing. The exit status of its process.
[[nodiscard]] int answer_probe(const Result<std::string>& found);

}  // namespace tutti::peers
