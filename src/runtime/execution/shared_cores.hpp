// SPDX-License-Identifier: Apache-2.0
// Which cores the ranks of a region may run on, as each has told the others there, and what follows from it: the same
// on all ranks, once all have told theirs.
#pragma once

#include <cstdint>

#include <sched.h>

#include "transport/shm/region.hpp"

namespace tutti {

// Those of this thread, at present.
void tell_own_cores(const shm::Region& region, std::uint32_t rank);

// How many cores the rank may use.
[[nodiscard]] std::uint32_t own_cores_of(const shm::Region& region, std::uint32_t rank);
[[nodiscard]] bool share_a_core(const shm::Region& region, std::uint32_t one, std::uint32_t other);
// Those that one rank may use, or any.
[[nodiscard]] cpu_set_t cores_of_rank(const shm::Region& region, std::uint32_t rank);
[[nodiscard]] cpu_set_t cores_of_all(const shm::Region& region);

// How many the first so many ranks have together; at least one.
[[nodiscard]] std::uint32_t cores_of(const shm::Region& region, std::uint32_t num_ranks);

// Whether some ranks cannot but take turns on a core: they are more than all cores, or all have the same ones (bound to
// them, say) and are more than those.
[[nodiscard]] bool shares_cores(const shm::Region& region);

// Decision::crowded: as many ranks as there are cores, if the first ranks are not all on a few of them; 0 elsewhere.
// Where there are more cores than schedules are proven for with so many, the others would have nothing to do.
[[nodiscard]] std::uint32_t ranks_to_fold(const shm::Region& region);

}  // namespace tutti
