// SPDX-License-Identifier: Apache-2.0
// The networks there are, one function each; make_network() has a row for it.
#pragma once

#include <memory>

#include "simulate/network/network.hpp"

namespace tutti::simulate {

[[nodiscard]] std::unique_ptr<Network> make_queueing_network(const fabric::Fabric& fabric, Transfers& transfers,
                                                             Events& events, Arrival arrival);
[[nodiscard]] std::unique_ptr<Network> make_fair_network(const fabric::Fabric& fabric, Transfers& transfers,
                                                         Events& events, Arrival arrival);

}  // namespace tutti::simulate
