// SPDX-License-Identifier: Apache-2.0
#include "fabric/generators/request.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fabric/limits.hpp"

namespace tutti::fabric {

namespace {

constexpr std::size_t kMostCharacters = 4096;
constexpr std::size_t kMostSizes = 4;

Status wrong(std::string_view text, std::string_view why) {
  return {Code::invalid_argument, fmt::format("{}: {}", in_quotes(text), why)};
}

Result<std::vector<std::uint32_t>> parse_sizes(std::string_view words, std::string_view text) {
  std::vector<std::uint32_t> sizes;
  for (const std::string_view part : split(words, 'x')) {
    std::uint32_t size = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    const bool is_number = !part.empty() && end == part.data() + part.size();
    if (!is_number || error == std::errc::invalid_argument)
      return wrong(text, fmt::format("{} is no size", in_quotes(part)));
    if (error == std::errc::result_out_of_range || size > kMostRanks)
      return wrong(text, fmt::format("the size {} is too large; {} ranks are the most", part, kMostRanks));
    if (size == 0) return wrong(text, "a size is 0, and 1 is the least");
    sizes.push_back(size);
  }
  if (sizes.size() > kMostSizes) return wrong(text, fmt::format("it has {} sizes", sizes.size()));
  return sizes;
}

Status add_parameter(std::string_view words, std::string_view text, std::vector<Parameter>& parameters) {
  const std::size_t equals = words.find('=');
  const bool has_value = equals != std::string_view::npos;
  Parameter parameter{std::string(trim(words.substr(0, equals))), "", ""};
  if (has_value) parameter.value = trim(words.substr(equals + 1));
  if (parameter.name.empty()) return wrong(text, "a parameter has no name");
  if (has_value && parameter.value.empty())
    return wrong(text, fmt::format("{} has no value", in_quotes(parameter.name)));
  const auto same = [&](const Parameter& each) { return same_name(each.name, parameter.name); };
  if (std::any_of(parameters.begin(), parameters.end(), same))
    return wrong(text, fmt::format("{} is there twice", in_quotes(parameter.name)));
  parameters.push_back(std::move(parameter));
  return {};
}

Result<Request> parse(std::string_view text) {
  text = trim(text);
  if (text.empty()) return wrong(text, "there is nothing");
  if (text.size() > kMostCharacters) return wrong(text, "it is too long");
  const std::size_t comma = text.find(',');
  const std::string_view head = text.substr(0, comma);
  const std::size_t colon = head.find(':');
  Request request{
      .text = std::string(text), .kind = std::string(trim(head.substr(0, colon))), .sizes = {}, .parameters = {}};
  if (request.kind.empty()) return wrong(text, "it has no kind");
  if (colon != std::string_view::npos) {
    TUTTI_TRY_ASSIGN(request.sizes, parse_sizes(head.substr(colon + 1), text));
  }
  std::string_view rest = comma == std::string_view::npos ? std::string_view() : text.substr(comma);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view name = trim(rest.substr(0, rest.find('=')));
    const std::size_t end = same_name(name, kInner) ? std::string_view::npos : rest.find(',');
    TUTTI_TRY(add_parameter(rest.substr(0, end), text, request.parameters));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
  }
  return request;
}

}  // namespace

Result<Request> parse_request(std::string_view text, std::string_view form) {
  Result<Request> request = parse(text);
  if (request.ok()) return request;
  return Status(request.status().code(), fmt::format("{}; {}", request.status().message(), form));
}

Status about(const Parameter& parameter, const Status& what) {
  const std::string name = parameter.where.empty() ? parameter.name : parameter.where;
  return {what.code(), fmt::format("{}: {}", printable(name), what.to_string())};
}

}  // namespace tutti::fabric
