// SPDX-License-Identifier: Apache-2.0
// Runs cases on ranks that are threads, and says what went otherwise than it must. Cases that can share a communicator
// follow each other on one, so that what one leaves behind the next one meets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "case.hpp"
#include "runtime/bootstrap/hosts.hpp"
#include "runtime/communicator/settings.hpp"
#include "transport/faulty/endpoint.hpp"

namespace tutti::test {

// What the runtime warned of: nothing, unless some case asks for what is refused. Everything else is a failure of the
// test that calls this.
[[nodiscard]] std::string run_cases(std::span<const Case> cases);
// The same with ranks on several hosts, as `hosts_of` says for that many ranks, that transport between them, and faults
// of the network.
[[nodiscard]] std::string run_cases(std::span<const Case> cases,
                                    const std::function<Hosts(std::uint32_t num_ranks)>& hosts_of,
                                    const TransportChoice& transport = {},
                                    const std::optional<transport::faulty::Faults>& faults = {});

}  // namespace tutti::test
