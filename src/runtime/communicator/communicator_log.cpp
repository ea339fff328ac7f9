// SPDX-License-Identifier: Apache-2.0
// The log of calls: which algorithm runs which sizes, and why (info), and each call (trace).
#include <bit>

#include <fmt/format.h>

#include "runtime/communicator/communicator.hpp"

namespace tutti {

// Sizes are logged by powers of two, so that a program with many sizes does not flood the log.
void Communicator::log_choice(const Choice& choice, std::uint64_t bytes, Type type, Reach reach) {
  const Way& way = *choice.way;
  const std::string_view through = reach == Reach::staged      ? ""
                                   : reach == Reach::symmetric ? ", in symmetric memory"
                                                               : ", attached";
  if (log_.enabled(LogLevel::info, LogSubsystem::coll))
    log_.info_once(
        LogSubsystem::coll,
        fmt::format("{} {} {}{} {}", name_of(way.collective), std::bit_width(bytes), way.name, through, choice.why),
        "{} {} B of {}: {}{} ({})", name_of(way.collective), bytes, name_of(type), way.name, through, choice.why);
}

// The small path has no log of its calls, to keep it fast.
void Communicator::log_small_path() {
  if (!log_.enabled(LogLevel::info, LogSubsystem::coll)) return;
  const std::string_view why = selector_.forced(Collective::all_reduce) != nullptr ? "forced" : "by size";
  const std::string symmetric = symmetric_small_end_ == settled_small_end_
                                    ? ""
                                    : fmt::format(", in symmetric memory below {} B", symmetric_small_end_);
  log_.info(LogSubsystem::coll, "{} below {} B{}: {} ({})", name_of(Collective::all_reduce), settled_small_end_,
            symmetric, kSmallAlgorithm, why);
}

void Communicator::trace_collective(std::uint64_t word, std::string_view why, const void* input, const void* output,
                                    std::string_view how) {
  log_.trace(LogSubsystem::coll, "collective {}: {} ({}), input {}, output {}, {}", ++traced_calls_, describe(word),
             why.empty() ? "its algorithm follows from all ranks' counts" : why, fmt::ptr(input), fmt::ptr(output),
             how);
}

void Communicator::trace_operation(const Operation& operation, std::string_view how) {
  if (operation.kind == Operation::Kind::collective) {
    const bool is_varying = operation.is_varying;
    trace_collective(is_varying ? operation.varying->about : operation.bound.call.described,
                     is_varying ? std::string_view() : operation.bound.why, operation.input(), operation.output(), how);
    return;
  }
  const void* data = operation.transfer.data;
  log_.trace(LogSubsystem::coll, "transfer {}: {}, buffer {}, {}", ++traced_transfers_, describe(operation),
             fmt::ptr(data), how);
}

}  // namespace tutti
