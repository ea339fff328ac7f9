// SPDX-License-Identifier: Apache-2.0
// A request as a call of MPI. Pure translation: no state.
#pragma once

#include "peers/peer.hpp"

namespace tutti::peers {

// On all of MPI_COMM_WORLD; Code::unsupported says what MPI has no name for.
[[nodiscard]] Result<Operation> to_mpi(const Request& request, int rank);

}  // namespace tutti::peers
