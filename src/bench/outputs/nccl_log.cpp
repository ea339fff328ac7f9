// SPDX-License-Identifier: Apache-2.0
#include "bench/outputs/nccl_log.hpp"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

bool is_of_name(char letter) {
  return (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '_';
}

// What follows "NAME<middle>" in each line that has it, without the full stop at the end.
std::vector<std::string> values_after(std::string_view log, std::string_view name, std::string_view middle) {
  const std::string wanted = fmt::format("{}{}", name, middle);
  std::vector<std::string> values;
  for (std::size_t found = log.find(wanted); found != std::string_view::npos; found = log.find(wanted, found + 1)) {
    if (found > 0 && is_of_name(log[found - 1])) continue;
    const std::string_view rest = log.substr(found + wanted.size());
    std::string_view value = trim(rest.substr(0, rest.find('\n')));
    if (value.ends_with('.')) value.remove_suffix(1);
    values.emplace_back(value);
  }
  return values;
}

// Numbers are told as NCCL has read them, which takes 0x20 for 32 and what is none for 0.
bool same_number(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text) -> std::optional<long long> {
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text.c_str(), &end, 0);
    if (errno != 0 || text.empty() || *end != '\0') return std::nullopt;
    return value;
  };
  const std::optional<long long> of_a = number(a);
  return of_a && of_a == number(b);
}

NcclWord told(State::Obeyed obeyed, std::string how) {
  return {.evidence = {.obeyed = obeyed, .how = std::move(how)}, .is_told = true};
}

}  // namespace

NcclWord nccl_word_on(const Setting& setting, std::string_view log) {
  const std::vector<std::string> values = values_after(log, setting.name, " set by environment to ");
  if (!setting.value && !values.empty())
    return told(State::Obeyed::ignored,
                fmt::format("the log has {} from elsewhere, such as nccl.conf", in_quotes(values.back())));
  if (setting.value && log.find(fmt::format(" for {}, using default", setting.name)) != std::string_view::npos)
    return told(State::Obeyed::ignored, "the log says that the value is invalid");
  for (const std::string& value : values)
    if (!same_name(value, *setting.value) && !same_number(value, *setting.value))
      return told(State::Obeyed::ignored, fmt::format("the log says that it is {}", in_quotes(value)));
  if (!values.empty()) return told(State::Obeyed::confirmed, "the log says that it was read");
  return {.evidence = {.obeyed = State::Obeyed::unverifiable, .how = "the log does not say that it was read"}};
}

}  // namespace tutti::harness
