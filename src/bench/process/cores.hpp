// SPDX-License-Identifier: Apache-2.0
// Where ranks run: each on a core of its own, with all hardware threads of that core, in the same way whoever starts
// them. Free functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti::harness {

// core: a core for each rank, and where there are fewer, rank r on core r modulo their number. none: wherever the
// system puts them.
enum class Bind : std::uint8_t { core, none };
[[nodiscard]] std::string_view name_of(Bind bind);
[[nodiscard]] std::optional<Bind> bind_from_name(std::string_view name);

// The hardware threads of a core, in ascending order; never empty.
using Core = std::vector<int>;

// The cores of these hardware threads, each with those of its threads that are among them, in the order of their first.
// `folder` has a folder cpuN for each, as /sys/devices/system/cpu; a thread that is not there is a core of its own.
[[nodiscard]] std::vector<Core> cores_of(const std::vector<int>& threads, const std::string& folder);
// Those on which this process may run.
[[nodiscard]] std::vector<Core> allowed_whole_cores();
// That of each rank, by rank. There is a core at least.
[[nodiscard]] std::vector<Core> cores_of_ranks(const std::vector<Core>& cores, int num_ranks);

// The calling thread, and what it starts from then on.
[[nodiscard]] Status run_on(const Core& core);

}  // namespace tutti::harness
