#include "runtime/settings.hpp"

#include <chrono>
#include <fstream>

#include <fmt/format.h>

namespace tutti {

namespace {

std::chrono::nanoseconds to_chrono(Nanos nanos) { return std::chrono::nanoseconds(nanos.value()); }

// In bytes. From sysfs, because sysconf reports the sum over a machine's caches where they are several.
std::uint64_t size_of_last_level_cache() {
  constexpr std::uint64_t kGuess = std::uint64_t{32} << 20;
  for (const int level : {3, 2}) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", level));
    std::string text;
    if (!(file >> text)) continue;
    if (const Result<Bytes> bytes = parse_bytes(text); bytes.ok() && bytes->value() > 0) return bytes->value();
  }
  return kGuess;
}

}  // namespace

Settings Settings::from(const Variables& variables) {
  Settings settings;
  settings.region.staging_slot = variables.get<VariableId::staging_slot>().value();
  settings.region.staging_depth = static_cast<std::uint32_t>(variables.get<VariableId::staging_depth>());
  settings.region.message_slot = settings.region.staging_slot;
  settings.region.message_depth = settings.region.staging_depth;
  settings.walker = variables.get_as<WalkerChoice, VariableId::walker>();
  if (const std::string_view name = variables.get<VariableId::allreduce_algorithm>(); name != "auto")
    settings.algorithm = std::string(name);
  if (const auto bytes = variables.get<VariableId::stream_min>()) settings.stream_min = bytes->value();
  if (const auto spin = variables.get<VariableId::spin>()) settings.spin = to_chrono(*spin);
  settings.yield = to_chrono(variables.get<VariableId::yield>());
  settings.timeout = to_chrono(variables.get<VariableId::timeout>());
  settings.late_warning = to_chrono(variables.get<VariableId::late_warning>());
  settings.last_level_cache = size_of_last_level_cache();
  return settings;
}

std::string Settings::agreement(const Variables& variables) {
  constexpr VariableId kAgreed[] = {VariableId::allreduce_algorithm, VariableId::staging_slot,
                                    VariableId::staging_depth};
  std::string lines;
  for (const VariableId id : kAgreed) lines += fmt::format("{}={}\n", row_of(id).name, variables.text(id));
  return lines;
}

}  // namespace tutti
