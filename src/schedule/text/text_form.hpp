// SPDX-License-Identifier: Apache-2.0
// The text form of schedules, for algorithms that users bring as files; docs/formats/schedule.md is its specification.
//
// What is read has its steps listed (listed.hpp). A schedule that is read is what its text says and nothing else; that
// it does what its collective defines is for prove() to show. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

inline constexpr std::uint32_t kScheduleTextVersion = 1;

// What a text may hold at most. Together they bound how long a schedule that was read can be when it is written, so
// that it can be read again.
namespace schedule_text {
inline constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20;
inline constexpr std::uint64_t kMostLineBytes = std::uint64_t{2} << 20;
inline constexpr std::uint32_t kMostRanks = 4096;
inline constexpr std::uint32_t kMostLanes = 1024;
inline constexpr std::uint32_t kMostPieces = 1U << 20;  // of a block
inline constexpr std::uint32_t kMostScratch = 1U << 20;
inline constexpr std::uint64_t kMostDivision = std::uint64_t{1} << 22;  // pieces of all blocks of all ranks
inline constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMostEnds = std::uint64_t{1}
                                           << 22;       // sources, destinations, peers and afters of all steps
inline constexpr std::uint32_t kMostEndsOfStep = 8192;  // sources, and as many destinations
inline constexpr std::uint32_t kMostAfters = 1024;      // of a step
}  // namespace schedule_text

// The error is "file:line:column: found X, expected Y"; the name of the file serves nothing else.
[[nodiscard]] Result<Schedule> read_schedule(std::string_view text, std::string_view file_name);

// What read_schedule() reads back to the same header and steps. For schedules that are well formed (well_formed.hpp)
// and divided as their collective is (spaces_of); anything else is a bug of the caller.
[[nodiscard]] std::string write_schedule(const Schedule& schedule);

}  // namespace tutti
