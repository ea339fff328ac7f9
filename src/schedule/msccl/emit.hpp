// SPDX-License-Identifier: Apache-2.0
// Writes the lanes of an MSCCL program down as a schedule.
#pragma once

#include "schedule/msccl/follow.hpp"
#include "schedule/schedule.hpp"

namespace tutti::msccl {

[[nodiscard]] Schedule emit(const File& file, const Lanes& lanes, const Buffers& buffers, const Followed& followed);

}  // namespace tutti::msccl
