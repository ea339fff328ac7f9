// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/fabric_tables.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fabric/costs.hpp"
#include "fabric/figures.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/files/fields.hpp"
#include "fabric/files/load.hpp"
#include "fabric/generators/generate.hpp"

namespace tutti::cli {

namespace {

std::string parameters_of(const fabric::Generator& generator) {
  std::vector<std::string> names;
  for (const fabric::Setting& setting : generator.settings)
    names.push_back(fmt::format("{}{}", setting.name, setting.is_flag ? "" : "=N"));
  for (const fabric::LinkClass& links : generator.links)
    for (const auto& field : fabric::kLinkFields) names.push_back(fmt::format("{}{}", links.prefix, field.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string common_parameters() {
  std::string names;
  for (const fabric::CommonParameter& each : fabric::common_parameters()) names += each.name + ", ";
  return names + "gateway, gateway_bandwidth, gateway_latency, gateway_gap, inner";
}

}  // namespace

Table fabric_summary(const fabric::Fabric& fabric) {
  const auto count = [](auto number) { return static_cast<std::int64_t>(number); };
  const auto switches =
      std::count_if(fabric.nodes.begin(), fabric.nodes.end(), [](const fabric::Node& node) { return node.is_switch; });
  const std::optional<fabric::LongestWay> longest = fabric::longest_way(fabric);
  const std::optional<double> halves = fabric::between_halves(fabric);
  Table table({{"fabric", 40},
               {"ranks"},
               {"cores"},
               {"nodes"},
               {"switches"},
               {"links"},
               {"link_costs", 40},
               {"most_hops"},
               {"most_latency_us"},
               {"halves_GBps"}});
  table.add_row({fabric.name, count(fabric.num_ranks()), count(fabric.cores.size()),
                 count(fabric.nodes.size()) - count(switches), count(switches), count(fabric.links.size()),
                 fabric.links.empty() ? Cell() : Cell(fabric::link_costs(fabric)),
                 longest ? Cell(count(longest->links)) : Cell(), longest ? Cell(longest->latency / 1000) : Cell(),
                 halves && *halves > 0 ? Cell(*halves) : Cell()});
  return table;
}

Table fabrics_table() {
  Table table({{"fabric"}, {"sizes"}, {"example"}, {"about", 50}, {"parameters", 60}});
  for (const fabric::Generator& generator : fabric::generators())
    table.add_row({std::string(generator.name), std::string(generator.form), std::string(generator.example),
                   std::string(generator.about), parameters_of(generator)});
  for (const fabric::Shipped& shipped : fabric::shipped_fabrics())
    table.add_row(
        {std::string(shipped.name), Cell(), std::string(shipped.name), fabric::about_of(shipped.text), Cell()});
  table.add_row({"(all)", Cell(), Cell(), "what every fabric takes", common_parameters()});
  return table;
}

}  // namespace tutti::cli
