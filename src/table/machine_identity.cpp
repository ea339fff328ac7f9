// SPDX-License-Identifier: Apache-2.0
#include "table/machine_identity.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/counted.hpp"
#include "base/digest.hpp"
#include "base/system/processor.hpp"
#include "base/text.hpp"

namespace tutti {

namespace {

constexpr std::string_view kCpu = "/sys/devices/system/cpu/cpu0";

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trim(line));
}

// "0-3,8" has five.
std::uint64_t num_listed(std::string_view list) {
  std::uint64_t number = 0;
  for (const std::string_view each : split(list, ',')) {
    const auto dash = each.find('-');
    const auto number_in = [](std::string_view digits) {
      std::uint64_t value = 0;
      for (const char digit : digits)
        if (digit >= '0' && digit <= '9') value = value * 10 + static_cast<std::uint64_t>(digit - '0');
      return value;
    };
    if (trim(each).empty()) continue;
    number +=
        dash == std::string_view::npos ? 1 : number_in(each.substr(dash + 1)) - number_in(each.substr(0, dash)) + 1;
  }
  return number;
}

std::string processor_name(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    for (const std::string_view key : {"model name", "Hardware", "CPU part"})
      if (line.starts_with(key) && line.find(':') != std::string::npos)
        return printable(trim(std::string_view(line).substr(line.find(':') + 1)));
  const std::string vendor = processor_vendor();
  return vendor.empty() ? "unknown processor" : vendor;
}

// Not those that this process may run on: ranks are often bound to a core each, and are to find the same table.
std::uint32_t num_cores_online() { return static_cast<std::uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

}  // namespace

MachineIdentity identity_of_machine(const std::string& root) {
  MachineIdentity identity{.processor = processor_name(root), .cores = num_cores_online(), .caches = "", .threads = ""};
  std::vector<std::string> caches;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("{}{}/cache/index{}", root, kCpu, index);
    const std::string size = line_of(folder + "/size");
    if (size.empty() || line_of(folder + "/type") == "Instruction") continue;
    caches.push_back(fmt::format("{} of {}", size, num_listed(line_of(folder + "/shared_cpu_list"))));
  }
  identity.caches = fmt::format("{}", fmt::join(caches, ", "));
  identity.threads = fmt::format(
      "{}",
      std::max<std::uint64_t>(num_listed(line_of(fmt::format("{}{}/topology/thread_siblings_list", root, kCpu))), 1));
  return identity;
}

std::string fingerprint_of(const MachineIdentity& identity) {
  return fmt::format("{:016x}", digest(fmt::format("{}\n{}\n{}\n{}\n", identity.processor, identity.cores,
                                                   identity.caches, identity.threads)));
}

std::string to_string(const MachineIdentity& identity) {
  return fmt::format("{}, {}{}{}", identity.processor, counted(identity.cores, "core"),
                     identity.caches.empty() ? "" : ", caches ", identity.caches);
}

}  // namespace tutti
