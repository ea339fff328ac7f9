// SPDX-License-Identifier: Apache-2.0
#include "fabric/generators/generate.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fabric/costs.hpp"
#include "fabric/files/fields.hpp"
#include "fabric/generators/nest.hpp"
#include "fabric/limits.hpp"

namespace tutti::fabric {

namespace {

// Behind each fabric that has another one in the place of its ranks.
constexpr LinkClass kGatewayLink = {"gateway_", "between an inner fabric's gateway and the outer fabric", 0, 0};
constexpr std::string_view kGateway = "gateway";

Status wrong(const Request& request, std::string_view why) {
  return {Code::invalid_argument, fmt::format("{}: {}", printable(request.text), why)};
}

// Nothing where the number is no power of the degree.
std::uint32_t root_of(std::uint32_t number, std::uint32_t degree) {
  const auto power = [&](std::uint64_t root) { return degree == 2 ? root * root : root * root * root; };
  std::uint32_t root = 1;
  while (power(root) < number) ++root;
  return power(root) == number ? root : 0;
}

Result<std::vector<std::uint32_t>> find_sizes(const Request& request, const Generator& generator) {
  const std::vector<std::uint32_t>& sizes = request.sizes;
  const auto right = [&] {
    return fmt::format("write {}:{}, such as {}", generator.name, generator.form, generator.example);
  };
  if (sizes.empty()) return wrong(request, fmt::format("it has no size; {}", right()));
  if (sizes.size() == 1 && generator.takes_power) {
    if (const std::uint32_t root = root_of(sizes[0], generator.least_sizes); root != 0)
      return std::vector<std::uint32_t>(generator.least_sizes, root);
    return wrong(request, fmt::format("{} is no {}, so each size must be there; {}", sizes[0],
                                      generator.least_sizes == 2 ? "square" : "cube", right()));
  }
  if (sizes.size() < generator.least_sizes || sizes.size() > generator.most_sizes)
    return wrong(request, fmt::format("it has {} size{}; {}", sizes.size(), sizes.size() == 1 ? "" : "s", right()));
  return sizes;
}

const Parameter* find_parameter(const Request& request, std::string_view name) {
  const auto found = std::find_if(request.parameters.rbegin(), request.parameters.rend(),
                                  [&](const Parameter& each) { return same_name(each.name, name); });
  return found == request.parameters.rend() ? nullptr : &*found;
}

std::vector<std::string> names_of(const Generator& generator) {
  std::vector<std::string> names;
  for (const Setting& setting : generator.settings) names.emplace_back(setting.name);
  const auto add_links = [&](const LinkClass& links) {
    for (const auto& field : kLinkFields) names.push_back(fmt::format("{}{}", links.prefix, field.name));
  };
  for (const LinkClass& links : generator.links) add_links(links);
  names.emplace_back(kInner);
  names.emplace_back(kGateway);
  add_links(kGatewayLink);
  for (const CommonParameter& each : common_parameters()) names.push_back(each.name);
  return names;
}

Status check_names(const Request& request, const Generator& generator) {
  const std::vector<std::string> names = names_of(generator);
  for (const Parameter& parameter : request.parameters) {
    const auto is_it = [&](const std::string& name) { return same_name(name, parameter.name); };
    if (std::any_of(names.begin(), names.end(), is_it)) continue;
    const std::vector<std::string_view> views(names.begin(), names.end());
    return about(parameter, {Code::invalid_argument, fmt::format("{} has no such parameter{}", generator.name,
                                                                 nearest_hint(parameter.name, views))});
  }
  return {};
}

// Reads what the request says of links of this class, and adds it to the text of the generator.
Result<Link> read_link(const Request& request, const LinkClass& links, std::string& text) {
  Link link{.bandwidth = links.bandwidth, .latency = links.latency};
  for (const auto& field : kLinkFields) {
    const std::string name = fmt::format("{}{}", links.prefix, field.name);
    const Parameter* parameter = find_parameter(request, name);
    if (parameter == nullptr) continue;
    if (const Status status = set(field, parameter->value, link); !status.ok()) return about(*parameter, status);
    text += fmt::format(",{}={}", name, get(field, link));
  }
  return link;
}

Result<std::uint32_t> read_setting(const Request& request, const Setting& setting, std::string& text) {
  const Parameter* parameter = find_parameter(request, setting.name);
  if (parameter == nullptr) return 0U;
  const std::string_view value = parameter->value;
  if (setting.is_flag) {
    if (same_name(value, "false")) return 0U;
    if (!value.empty() && !same_name(value, "true"))
      return about(*parameter, {Code::invalid_argument, fmt::format("{} is neither true nor false", in_quotes(value))});
    text += fmt::format(",{}", setting.name);
    return 1U;
  }
  Queue any;  // a number is read as that of slots is
  if (const Status status = set(kQueueFields[0], value, any); !status.ok()) return about(*parameter, status);
  if (any.slots == 0) return about(*parameter, {Code::invalid_argument, "0 is too few; 1 is the least"});
  text += fmt::format(",{}={}", setting.name, any.slots);
  return any.slots;
}

Result<std::uint32_t> find_gateway(const Request& request, const Fabric& inner, std::string& text) {
  const Parameter* parameter = find_parameter(request, kGateway);
  if (parameter == nullptr) return usual_gateway(inner);
  for (std::uint32_t node = 0; node < inner.nodes.size(); ++node) {
    if (!same_name(inner.nodes[node].name, parameter->value)) continue;
    text += fmt::format(",{}={}", kGateway, inner.nodes[node].name);
    return node;
  }
  return about(*parameter,
               {Code::invalid_argument,
                fmt::format("{} has no node {}; its nodes are such as '{}' and '{}'", inner.name,
                            in_quotes(parameter->value), inner.nodes.front().name, inner.nodes.back().name)});
}

Result<Fabric> generate(const Request& request, std::uint32_t depth);

Result<Fabric> nested(const Request& request, Fabric outer, std::uint32_t depth) {
  const Parameter* parameter = find_parameter(request, kInner);
  if (parameter == nullptr) {
    for (const Parameter& each : request.parameters)
      if (same_name(each.name, kGateway) ||
          same_name(each.name.substr(0, kGatewayLink.prefix.size()), kGatewayLink.prefix))
        return about(each, {Code::invalid_argument, "there is no gateway without an inner fabric (inner=...)"});
    return outer;
  }
  if (depth + 1 >= kMostNested)
    return about(*parameter,
                 {Code::invalid_argument, fmt::format("{} fabrics within one another are the most", kMostNested)});
  const Result<Request> inner_request = parse_request(parameter->value);
  if (!inner_request.ok()) return about(*parameter, inner_request.status());
  const Result<Fabric> inner = generate(*inner_request, depth + 1);
  if (!inner.ok()) return about(*parameter, inner.status());
  std::string text = outer.generator;
  TUTTI_TRY_ASSIGN(const std::uint32_t node, find_gateway(request, *inner, text));
  TUTTI_TRY_ASSIGN(const Link link, read_link(request, kGatewayLink, text));
  Result<Fabric> fabric = nest(outer, *inner, {node, link});
  if (!fabric.ok()) return wrong(request, fabric.status().message());
  fabric->generator = fmt::format("{},{}={}", text, kInner, inner->generator);
  return fabric;
}

Result<Fabric> generate(const Request& request, std::uint32_t depth) {
  const Generator* generator = find_generator(request.kind);
  if (generator == nullptr) {
    std::vector<std::string_view> names;
    for (const Generator& each : generators()) names.push_back(each.name);
    return wrong(request,
                 fmt::format("there is no generator {}{}", in_quotes(request.kind), nearest_hint(request.kind, names)));
  }
  TUTTI_TRY_ASSIGN(std::vector<std::uint32_t> sizes, find_sizes(request, *generator));
  TUTTI_TRY(check_names(request, *generator));
  GeneratorArguments arguments{.sizes = std::move(sizes), .links = {}, .settings = {}};
  std::string text = fmt::format("{}:{}", generator->name, fmt::join(arguments.sizes, "x"));
  for (const Setting& setting : generator->settings) {
    TUTTI_TRY_ASSIGN(const std::uint32_t value, read_setting(request, setting, text));
    arguments.settings.push_back(value);
  }
  for (const LinkClass& links : generator->links) {
    TUTTI_TRY_ASSIGN(const Link link, read_link(request, links, text));
    arguments.links.push_back(link);
  }
  Result<Fabric> outer = generator->make(arguments);
  if (!outer.ok()) return wrong(request, outer.status().message());
  outer->generator = std::move(text);
  TUTTI_TRY_ASSIGN(Fabric fabric, nested(request, *std::move(outer), depth));
  fabric.name = request.text;
  TUTTI_TRY(apply_common(request.parameters, fabric));
  return fabric;
}

}  // namespace

Result<Fabric> generate(std::string_view text) {
  TUTTI_TRY_ASSIGN(const Request request, parse_request(text));
  return generate(request);
}

Result<Fabric> generate(const Request& request) { return generate(request, 0); }

}  // namespace tutti::fabric
