// SPDX-License-Identifier: Apache-2.0
#include "base/system/memory_limits.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <sys/resource.h>

namespace tutti {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

constexpr std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > kUnlimited - b ? kUnlimited : a + b; }
constexpr std::uint64_t left_of(std::uint64_t all, std::uint64_t used) { return all - std::min(all, used); }

// The number that a file begins with; none where there is no such file, or it says "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// The number behind a name in a file of lines; what follows it in a line is not looked at.
std::optional<std::uint64_t> number_behind(std::string_view name, const std::string& path) {
  std::ifstream file(path);
  std::string word;
  std::string rest;
  for (std::uint64_t number = 0; file >> word >> number; std::getline(file, rest))
    if (word == name) return number;
  return std::nullopt;
}

// What the files of a version of control groups are called.
struct Version {
  const char* limit;
  const char* usage;
  std::array<const char*, 2> cache;  // in memory.stat: what of the usage is given up when it is wanted
  const char* swap_limit;
  const char* swap_usage;
};
constexpr Version kVersion1 = {"memory.limit_in_bytes",
                               "memory.usage_in_bytes",
                               {"total_inactive_file", "total_active_file"},
                               "memory.memsw.limit_in_bytes",
                               "memory.memsw.usage_in_bytes"};
constexpr Version kVersion2 = {
    "memory.max", "memory.current", {"inactive_file", "active_file"}, "memory.swap.max", "memory.swap.current"};

void hold_against(MemoryLimits& limits, std::uint64_t all, std::uint64_t available) {
  if (all >= limits.all && available >= limits.available) return;
  limits.all = std::min(limits.all, all);
  limits.available = std::min(limits.available, available);
  limits.by_control_group = true;
}

void take_group(MemoryLimits& limits, const std::string& folder, const Version& version, std::uint64_t free_swap) {
  const std::optional<std::uint64_t> limit = number_in(folder + version.limit);
  std::uint64_t cache = 0;
  for (const char* name : version.cache) cache += number_behind(name, folder + "memory.stat").value_or(0);
  const auto used = [&](const char* file) { return left_of(number_in(folder + file).value_or(0), cache); };
  const std::optional<std::uint64_t> swap_limit = number_in(folder + version.swap_limit);
  std::uint64_t swap = free_swap;
  if (&version == &kVersion2) {
    const std::uint64_t swapped = number_in(folder + version.swap_usage).value_or(0);
    if (swap_limit) swap = std::min(swap, left_of(*swap_limit, swapped));
  } else if (swap_limit) {
    // Of memory and swap together.
    hold_against(limits, *swap_limit, left_of(*swap_limit, used(version.swap_usage)));
  }
  if (limit) hold_against(limits, sum(*limit, swap), sum(left_of(*limit, used(version.usage)), swap));
}

// The limits of a group hold for all that are in it. Where a container sees only its own group, as the root, but is
// told its path on the host, the folders on the way are not there, and the root counts.
void take_groups(MemoryLimits& limits, const std::string& mount, std::string path, const Version& version,
                 std::uint64_t free_swap) {
  if (path.find("..") != std::string::npos) path.clear();  // outside of what can be seen
  while (!path.empty() && path.back() == '/') path.pop_back();
  for (;; path.erase(path.rfind('/'))) {
    take_group(limits, mount + path + "/", version, free_swap);
    if (path.find('/') == std::string::npos) return;
  }
}

bool has_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::string_view name = controllers.substr(0, controllers.find(','));
    if (name == "memory") return true;
    controllers.remove_prefix(std::min(controllers.size(), name.size() + 1));
  }
  return false;
}

}  // namespace

std::string MemoryLimits::to_string() const {
  return fmt::format("{} {} bytes, of which {} can be had",
                     by_control_group ? "the control group of this process may have" : "the machine has", all,
                     available);
}

MemoryLimits MemoryLimits::of_this_process(const std::string& root) {
  MemoryLimits limits;
  const std::string machine = root + "/proc/meminfo";
  const auto bytes_of = [&](std::string_view name) -> std::optional<std::uint64_t> {
    const std::optional<std::uint64_t> kilobytes = number_behind(name, machine);
    return kilobytes ? std::optional(*kilobytes << 10) : std::nullopt;
  };
  const std::uint64_t free_swap = bytes_of("SwapFree:").value_or(0);
  limits.all = sum(bytes_of("MemTotal:").value_or(kUnlimited), free_swap);
  limits.available = sum(bytes_of("MemAvailable:").value_or(kUnlimited), free_swap);

  // NUMBER:CONTROLLERS:PATH; version 2 has no controllers there.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) take_groups(limits, root + "/sys/fs/cgroup", path, kVersion2, free_swap);
    if (has_memory(controllers)) take_groups(limits, root + "/sys/fs/cgroup/memory", path, kVersion1, free_swap);
  }
  return limits;
}

std::string memory_ulimits_text() {
  rlimit space{};
  rlimit data{};
  const bool has_space = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  const bool has_data = getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY;
  if (!has_space && !has_data) return "";
  std::string text = " (this process may have ";
  if (has_space) text += fmt::format("{} KiB of address space: ulimit -v", space.rlim_cur / 1024);
  if (has_space && has_data) text += ", and ";
  if (has_data) text += fmt::format("{} KiB of data: ulimit -d", data.rlim_cur / 1024);
  return text + ")";
}

}  // namespace tutti
