#include "bench/outputs/evidence.hpp"

#include <fmt/format.h>

namespace tutti::harness {

namespace {

bool is_confirmed(const Setting& setting, std::string_view text) {
  if (!setting.value) return false;
  const std::string said = fmt::format("{} set by environment to {}", setting.name, *setting.value);
  for (std::size_t place = text.find(said); place != std::string_view::npos; place = text.find(said, place + 1)) {
    // Not the beginning of a longer value.
    const std::string_view rest = text.substr(place + said.size());
    if (rest.empty() || rest.find_first_of(".\r\n ") == 0) return true;
  }
  return false;
}

}  // namespace

std::map<std::string, Evidence> evidence_in(std::string_view text, const std::vector<Setting>& settings) {
  std::map<std::string, Evidence> all;
  for (const Setting& setting : settings) {
    const bool confirmed = is_confirmed(setting, text);
    all[setting.name] = {.obeyed = confirmed ? State::Obeyed::confirmed : State::Obeyed::unverifiable,
                         .how = confirmed ? "its log has it" : "it does not say what it does with it"};
  }
  return all;
}

}  // namespace tutti::harness
