#include "runtime/settings.hpp"

#include <chrono>
#include <fstream>
#include <optional>

#include <fmt/format.h>

namespace tutti {

namespace {

std::chrono::nanoseconds to_chrono(Nanos nanos) { return std::chrono::nanoseconds(nanos.value()); }

// In bytes; nothing where the system does not say. From sysfs, because sysconf reports the sum over a machine's caches
// where they are several. Linux counts both first-level caches, so the second level has index 2.
std::optional<std::uint64_t> size_of_cache(int index) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
  std::string text;
  if (!(file >> text)) return std::nullopt;
  const Result<Bytes> bytes = parse_bytes(text);
  if (!bytes.ok() || bytes->value() == 0) return std::nullopt;
  return bytes->value();
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
  settings.file = AlgorithmFile::of(settings.algorithm);
  if (const auto bytes = variables.get<VariableId::stream_min>()) settings.stream_min = bytes->value();
  if (const auto spin = variables.get<VariableId::spin>()) settings.spin = to_chrono(*spin);
  settings.yield = to_chrono(variables.get<VariableId::yield>());
  settings.timeout = to_chrono(variables.get<VariableId::timeout>());
  settings.late_warning = to_chrono(variables.get<VariableId::late_warning>());
  const std::optional<std::uint64_t> second = size_of_cache(2);
  const std::optional<std::uint64_t> third = size_of_cache(3);
  if (second) settings.core_cache = *second;
  if (second || third) settings.last_level_cache = third.value_or(second.value_or(0));
  return settings;
}

std::string Settings::agreement(const Variables& variables) const {
  constexpr VariableId kAgreed[] = {VariableId::allreduce_algorithm, VariableId::staging_slot,
                                    VariableId::staging_depth};
  std::string lines;
  for (const VariableId id : kAgreed) {
    const bool is_file = id == VariableId::allreduce_algorithm && file;
    lines += fmt::format("{}={}\n", row_of(id).name, is_file ? file->agreement() : variables.text(id));
  }
  return lines;
}

}  // namespace tutti
