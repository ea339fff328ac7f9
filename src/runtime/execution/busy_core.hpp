// SPDX-License-Identifier: Apache-2.0
// What a rank does about a foreign process on a core that it shares with other ranks (shm::CoreWatch): it lets itself
// run on all cores that any rank of its communicator may use.
#pragma once

#include <functional>
#include <optional>

#include "transport/shm/core_watch.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

// Nothing where it could not help: the rank may use all of those cores already, or ranks are threads of one process.
// To be called once all ranks have told their cores and their process numbers are proven (find_attach()). `on_leave` is
// called when the rank has more cores. A thread that the program has bound otherwise meanwhile stays as it is.
[[nodiscard]] std::optional<shm::CoreWatch::Senses> senses_of_core(const shm::Region& region, std::uint32_t rank,
                                                                   std::function<void()> on_leave);

}  // namespace tutti
