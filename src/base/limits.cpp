// SPDX-License-Identifier: Apache-2.0
#include "base/limits.hpp"

#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/system/memory_limits.hpp"

namespace tutti {

namespace {

struct Limit {
  int error_number;
  decltype(RLIMIT_NOFILE) resource;
  char letter;           // of the shell's ulimit
  rlim_t unit;           // which it counts in
  const char* may_have;  // with a place for the value
};

constexpr std::array<Limit, 2> kLimits = {
    {{EMFILE, RLIMIT_NOFILE, 'n', 1, "this process may have {} of them"},
     {EFBIG, RLIMIT_FSIZE, 'f', 1024, "this process may write files of up to {} KiB"}}};

}  // namespace

std::string limit_behind(int error_number) {
  if (error_number == ENOMEM) return memory_ulimits_text();
  for (const Limit& limit : kLimits) {
    rlimit value{};
    if (limit.error_number != error_number || getrlimit(limit.resource, &value) != 0 || value.rlim_cur == RLIM_INFINITY)
      continue;
    const std::string may_have = fmt::format(fmt::runtime(limit.may_have), value.rlim_cur / limit.unit);
    if (value.rlim_max == value.rlim_cur)
      return fmt::format(" ({}: ulimit -{}; this is the hard limit, which only root raises)", may_have, limit.letter);
    const std::string most =
        value.rlim_max == RLIM_INFINITY ? "unlimited" : fmt::format("{}", value.rlim_max / limit.unit);
    return fmt::format(" ({0}: ulimit -{1}; 'ulimit -{1} {2}' raises it)", may_have, limit.letter, most);
  }
  return "";
}

Status thread_refusal(std::string_view name, int error_number) {
  const std::string what = fmt::format("cannot start the thread {}", name);
  if (error_number != EAGAIN) return Status::from_errno(what, error_number);
  const std::string limits = memory_ulimits_text();
  if (!limits.empty())
    return {Code::system,
            fmt::format("{}: its stack finds no room{}, or there are too many threads (ulimit -u)", what, limits)};
  return {Code::system, what + ": there are too many threads (ulimit -u, or a control group's pids.max)"};
}

}  // namespace tutti
