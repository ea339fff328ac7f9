// SPDX-License-Identifier: Apache-2.0
#include "bench/process/cores.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <sched.h>

#include "base/system/file.hpp"
#include "base/system/spawn.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::harness {

namespace {

constexpr std::array<std::string_view, 2> kNames = {"core", "none"};
constexpr int kMostThreads = 16384;

// "0-3,8": the least of them, which names the core.
std::optional<int> first_in(std::string_view list) {
  const Result<std::int64_t> first = parse_integer(trim(list.substr(0, list.find_first_of(",-"))));
  if (!first.ok() || *first < 0 || *first >= kMostThreads) return std::nullopt;
  return static_cast<int>(*first);
}

}  // namespace

std::string_view name_of(Bind bind) { return kNames[static_cast<std::size_t>(bind)]; }

std::optional<Bind> bind_from_name(std::string_view name) {
  for (std::size_t each = 0; each < kNames.size(); ++each)
    if (same_name(kNames[each], name)) return static_cast<Bind>(each);
  return std::nullopt;
}

std::vector<Core> cores_of(const std::vector<int>& threads, const std::string& folder) {
  struct Named {
    int name;
    Core core;
  };
  std::vector<Named> cores;
  for (const int thread : threads) {
    constexpr std::uint64_t kMostBytes = 65536;
    const Result<std::string> siblings =
        read_file(fmt::format("{}/cpu{}/topology/thread_siblings_list", folder, thread), kMostBytes);
    const int name = (siblings.ok() ? first_in(*siblings) : std::nullopt).value_or(thread);
    const auto known = std::find_if(cores.begin(), cores.end(), [&](const Named& each) { return each.name == name; });
    if (known == cores.end()) {
      cores.push_back({name, {thread}});
    } else {
      known->core.push_back(thread);
    }
  }
  std::vector<Core> found;
  found.reserve(cores.size());
  for (Named& each : cores) found.push_back(std::move(each.core));
  return found;
}

std::vector<Core> allowed_whole_cores() { return cores_of(allowed_cores(), "/sys/devices/system/cpu"); }

std::vector<Core> cores_of_ranks(const std::vector<Core>& cores, int num_ranks) {
  std::vector<Core> of_ranks;
  of_ranks.reserve(static_cast<std::size_t>(num_ranks));
  for (std::size_t rank = 0; std::ssize(of_ranks) < num_ranks; ++rank) of_ranks.push_back(cores[rank % cores.size()]);
  return of_ranks;
}

Status run_on(const Core& core) {
  cpu_set_t* set = CPU_ALLOC(kMostThreads);
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostThreads);
  CPU_ZERO_S(bytes, set);
  for (const int thread : core)
    if (thread >= 0 && thread < kMostThreads) CPU_SET_S(static_cast<std::size_t>(thread), bytes, set);
  const int refused = ::sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  CPU_FREE(set);
  if (refused == 0) return {};
  return Status::from_errno(fmt::format("cannot run on the hardware threads {}", fmt::join(core, ", ")), refused);
}

}  // namespace tutti::harness
