// SPDX-License-Identifier: Apache-2.0
#include "simulate/network/network.hpp"

#include <utility>

#include "simulate/network/networks.hpp"

namespace tutti::simulate {

std::unique_ptr<Network> make_network(Sharing sharing, const fabric::Fabric& fabric, Transfers& transfers,
                                      Events& events, Arrival arrival) {
  switch (sharing) {
    case Sharing::queueing: return make_queueing_network(fabric, transfers, events, std::move(arrival));
    case Sharing::fair: break;
  }
  return make_fair_network(fabric, transfers, events, std::move(arrival));
}

}  // namespace tutti::simulate
