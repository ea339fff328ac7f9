// SPDX-License-Identifier: Apache-2.0
// A request as a call of MPI. Pure translation: no state.
#pragma once

#include "peers/peer.hpp"

namespace tutti::peers {

// On all of MPI_COMM_WORLD; Code::unsupported says what MPI has no name for.
[[nodiscard]] Result<Operation> to_mpi(const Request& request, int rank);
// Of an all-reduce: MPI_Iallreduce.
[[nodiscard]] Result<Pending> to_pending_mpi(const Request& request);

}  // namespace tutti::peers
