// SPDX-License-Identifier: Apache-2.0
#include "base/variables/environment.hpp"

#include <unistd.h>

namespace tutti {

Environment::Environment(std::initializer_list<Pair> pairs) {
  for (const auto& [name, value] : pairs) values_.emplace(name, value);
}

Environment::Environment(const std::vector<Pair>& pairs) {
  for (const auto& [name, value] : pairs) values_.emplace(name, value);
}

Environment Environment::of_this_process() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.values_.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::optional<std::string> Environment::lookup(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

void Environment::set(std::string name, std::string value, std::string_view place) {
  places_.insert_or_assign(name, place);
  values_.insert_or_assign(std::move(name), std::move(value));
}

std::string_view Environment::place_of(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? kPlace : std::string_view(found->second);
}

std::string Environment::data_folder() const {
  const std::string data = lookup("XDG_DATA_HOME").value_or("");
  if (data.starts_with('/')) return data + "/tutti";
  const std::string home = lookup("HOME").value_or("");
  return home.empty() ? "" : home + "/.local/share/tutti";
}

std::vector<std::string> Environment::block() const {
  std::vector<std::string> block;
  block.reserve(values_.size());
  for (const auto& [name, value] : values_) block.emplace_back(name).append("=").append(value);
  return block;
}

std::vector<std::string> Environment::names() const {
  std::vector<std::string> names;
  names.reserve(values_.size());
  for (const auto& [name, value] : values_) names.push_back(name);
  return names;
}

}  // namespace tutti
