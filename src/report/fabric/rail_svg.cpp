// SPDX-License-Identifier: Apache-2.0
#include "report/fabric/rail_svg.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "report/fabric/fabric_cables.hpp"
#include "report/picture.hpp"
#include "report/svg.hpp"

namespace tutti::report {

namespace {

using fabric::Fabric;
using fabric::Node;

constexpr std::uint32_t kMostShown = 8;  // rows, and columns
constexpr double kApart = 66;            // ranks
constexpr double kBeside = 27;           // from a rank to the line of its rail, and of its node
constexpr double kRadius = 15;
constexpr double kHalf = 11;   // of a switch's side
constexpr double kLeft = 100;  // the names and switches of nodes
constexpr double kLine = 20;   // of the legend

// The switches that a rank is linked to, in the order of its cables.
using Switches = std::vector<std::uint32_t>;

// None where a link is to something else than a switch.
std::optional<std::vector<Switches>> switches_of_ranks(const Fabric& fabric) {
  std::map<std::uint32_t, std::uint32_t> rank_at;
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank)
    if (!rank_at.try_emplace(fabric.ranks[rank].node, rank).second) return std::nullopt;
  std::vector<Switches> switches(fabric.num_ranks());
  for (const Cable& cable : cables_of(fabric)) {
    const auto a = rank_at.find(cable.a);
    const auto b = rank_at.find(cable.b);
    const bool is_one_rank = (a == rank_at.end()) != (b == rank_at.end());
    if (!is_one_rank || !cable.there || !cable.back) return std::nullopt;
    const std::uint32_t other = a == rank_at.end() ? cable.a : cable.b;
    if (!fabric.nodes[other].is_switch) return std::nullopt;
    switches[a == rank_at.end() ? b->second : a->second].push_back(other);
  }
  return switches;
}

// Those that ranks 0 and 1 share; they are of one node.
std::optional<std::uint32_t> shared_switch(const std::vector<Switches>& switches) {
  for (const std::uint32_t each : switches[0])
    if (std::find(switches[1].begin(), switches[1].end(), each) != switches[1].end()) return each;
  return std::nullopt;
}

// All ranks on one switch, side by side: nodes with a single rank each. (On a circle around it they are no rails.)
std::optional<RailGrid> single_rail(const Fabric& fabric, const std::vector<Switches>& switches) {
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank) {
    const bool is_beside = fabric.nodes[fabric.ranks[rank].node].y == fabric.nodes[fabric.ranks[0].node].y;
    if (switches[rank] != switches[0] || switches[rank].size() != 1 || !is_beside) return std::nullopt;
  }
  return RailGrid{.num_columns = 1, .node_switches = {}, .rails = switches[0]};
}

}  // namespace

std::optional<RailGrid> rail_grid_of(const Fabric& fabric) {
  const auto switches = switches_of_ranks(fabric);
  if (!switches || fabric.num_ranks() < 2) return std::nullopt;
  if ((*switches)[0].size() == 1) return single_rail(fabric, *switches);
  const std::optional<std::uint32_t> shared = shared_switch(*switches);
  if (!shared) return std::nullopt;
  RailGrid grid{.num_columns = 0, .node_switches = {}, .rails = {}};
  for (const Switches& each : *switches)
    grid.num_columns += std::find(each.begin(), each.end(), *shared) != each.end() ? 1 : 0;
  if (fabric.num_ranks() % grid.num_columns != 0) return std::nullopt;
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank) {
    const Switches& own = (*switches)[rank];
    if (own.size() != 2) return std::nullopt;
    const std::uint32_t row = rank / grid.num_columns;
    const std::uint32_t column = rank % grid.num_columns;
    // The first of a row has what the second has too; in the first row this tells rails from the nodes' switches.
    if (column == 0) {
      const Switches& next = (*switches)[rank + (grid.num_columns > 1 ? 1 : 0)];
      const bool is_first = std::find(next.begin(), next.end(), own[0]) != next.end();
      grid.node_switches.push_back(is_first ? own[0] : own[1]);
    }
    const std::uint32_t rail = own[0] == grid.node_switches[row] ? own[1] : own[0];
    if (row == 0) grid.rails.push_back(rail);
    if ((own[0] != grid.node_switches[row] && own[1] != grid.node_switches[row]) || rail != grid.rails[column])
      return std::nullopt;
  }
  return grid;
}

namespace {

class Drawing {
 public:
  Drawing(const Fabric& fabric, const RailGrid& grid)
      : fabric_(fabric),
        grid_(grid),
        num_rows_(fabric.num_ranks() / grid.num_columns),
        rows_(std::min(num_rows_, kMostShown)),
        columns_(std::min(grid.num_columns, kMostShown)) {
    for (const Cable& cable : cables_of(fabric)) cables_[{cable.a, cable.b}] = cable;
    width_ = std::max(kLeft + columns_ * kApart + (columns_ < grid.num_columns ? 190 : 60), 560.0);
    top_ = report::height_of_head(remark(), width_) + 80;
  }

  std::string draw() {
    for (std::uint32_t row = 0; row < rows_; ++row)
      for (std::uint32_t column = 0; column < columns_; ++column) draw_cables(row, column);
    for (std::uint32_t column = 0; column < columns_; ++column) draw_rail(column);
    for (std::uint32_t row = 0; row < rows_; ++row) draw_node(row);
    double y = y_of(rows_ - 1) + kBeside + 30;
    if (rows_ < num_rows_) {
      picture_.text(16, y, fmt::format("... {} more nodes{}", num_rows_ - rows_, are_rows_alike() ? " alike" : ""));
      y += 22;
    }
    if (columns_ < grid_.num_columns)
      picture_.text(
          x_of(columns_ - 1) + kBeside + 24, top_ - 40,
          fmt::format("... {} more rails{}", grid_.num_columns - columns_, are_columns_alike() ? " alike" : ""));
    y = draw_legend(y + 8);
    return picture_.with_head(printable(fabric_.name), remark(), width_, y);
  }

 private:
  [[nodiscard]] std::string remark() const {
    const auto switches =
        std::count_if(fabric_.nodes.begin(), fabric_.nodes.end(), [](const Node& node) { return node.is_switch; });
    return fmt::format(
        "{}, {}, {} links; a row is a node, a column is a rail, and a line from a rank to "
        "its switch is two links",
        counted(fabric_.num_ranks(), "rank"), counted(switches, "switch", "es"), fabric_.links.size());
  }

  [[nodiscard]] double x_of(std::uint32_t column) const { return kLeft + 34 + column * kApart; }
  [[nodiscard]] double y_of(std::uint32_t row) const { return top_ + row * kApart; }
  [[nodiscard]] std::uint32_t rank_at(std::uint32_t row, std::uint32_t column) const {
    return row * grid_.num_columns + column;
  }
  [[nodiscard]] const Cable& cable(std::uint32_t rank, std::uint32_t switch_node) const {
    return cables_.at(std::minmax(fabric_.ranks[rank].node, switch_node));
  }
  [[nodiscard]] const std::string& rail_cost(std::uint32_t row, std::uint32_t column) const {
    return cable(rank_at(row, column), grid_.rails[column]).cost;
  }
  [[nodiscard]] std::string node_cost(std::uint32_t row, std::uint32_t column) const {
    return grid_.node_switches.empty() ? "" : cable(rank_at(row, column), grid_.node_switches[row]).cost;
  }

  [[nodiscard]] bool are_rows_alike() const {
    for (std::uint32_t row = rows_; row < num_rows_; ++row)
      for (std::uint32_t column = 0; column < grid_.num_columns; ++column)
        if (rail_cost(row, column) != rail_cost(0, column) || node_cost(row, column) != node_cost(0, column))
          return false;
    return true;
  }
  [[nodiscard]] bool are_columns_alike() const {
    for (std::uint32_t row = 0; row < num_rows_; ++row)
      for (std::uint32_t column = columns_; column < grid_.num_columns; ++column)
        if (rail_cost(row, column) != rail_cost(row, 0) || node_cost(row, column) != node_cost(row, 0)) return false;
    return true;
  }

  std::string_view color_of(const std::string& cost) {
    auto found = std::find(costs_.begin(), costs_.end(), cost);
    if (found == costs_.end()) found = costs_.insert(costs_.end(), cost);
    return report::kStyles[static_cast<std::size_t>(found - costs_.begin()) % report::kStyles.size()].color;
  }

  void draw_cable(const Cable& cable, std::string_view path) {
    picture_.add(
        fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"><title>{} - {}: {}"
                    "</title></path>\n",
                    path, color_of(cable.cost), report::escaped(printable(fabric_.nodes[cable.a].name)),
                    report::escaped(printable(fabric_.nodes[cable.b].name)), report::escaped(cable.cost)));
  }

  // A rail runs down beside its column, and a node's line along below its row.
  void draw_cables(std::uint32_t row, std::uint32_t column) {
    const double x = x_of(column);
    const double y = y_of(row);
    const std::uint32_t rank = rank_at(row, column);
    draw_cable(cable(rank, grid_.rails[column]),
               fmt::format("M{:.1f} {:.1f} V{:.1f} H{:.1f}", x + kBeside, top_ - 44, y, x + kRadius));
    if (!grid_.node_switches.empty())
      draw_cable(cable(rank, grid_.node_switches[row]),
                 fmt::format("M{:.1f} {:.1f} V{:.1f} H{:.1f} V{:.1f}", kLeft - 12, y, y + kBeside, x, y + kRadius));
  }

  void draw_switch(std::uint32_t number, double x, double y) {
    const Node& node = fabric_.nodes[number];
    picture_.add(
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"4\" fill=\"{}\" "
                    "stroke=\"#555555\"><title>{}</title></rect>\n",
                    x - kHalf, y - kHalf, 2 * kHalf, 2 * kHalf, node.multicast ? "#ee9955" : "#eeddbb",
                    report::escaped(printable(node.name))));
  }

  void draw_rail(std::uint32_t column) {
    const double x = x_of(column) + kBeside;
    draw_switch(grid_.rails[column], x, top_ - 44);
    picture_.text(x, top_ - 60, report::shortened_to(fabric_.nodes[grid_.rails[column]].name, kApart - 4, 9),
                  {.anchor = "middle", .size = 9});
  }

  void draw_node(std::uint32_t row) {
    const double y = y_of(row);
    if (!grid_.node_switches.empty()) {
      const std::uint32_t number = grid_.node_switches[row];
      draw_switch(number, kLeft - 12, y);
      picture_.text(16, y + 4, report::shortened_to(fabric_.nodes[number].name, kLeft - 44));
    }
    for (std::uint32_t column = 0; column < columns_; ++column) {
      const std::uint32_t rank = rank_at(row, column);
      const Node& node = fabric_.nodes[fabric_.ranks[rank].node];
      picture_.add(
          fmt::format("<g><title>{}: rank {}</title><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.0f}\" "
                      "fill=\"#ddeeff\" stroke=\"#223344\"/>",
                      report::escaped(printable(node.name)), rank, x_of(column), y, kRadius));
      picture_.text(x_of(column), y + 4, std::to_string(rank), {.anchor = "middle", .color = "#222222"});
      picture_.add("</g>\n");
    }
  }

  // How far it reaches down.
  double draw_legend(double y) {
    picture_.add("<g class=\"key\">\n");
    for (const std::string& cost : std::vector<std::string>(costs_)) {
      picture_.line(16, y - 4, 40, y - 4, color_of(cost), 2);
      picture_.text(48, y, report::shortened_to(cost, width_ - 64));
      y += kLine;
    }
    picture_.add("</g>\n");
    return y;
  }

  const Fabric& fabric_;
  const RailGrid& grid_;
  std::uint32_t num_rows_;
  std::uint32_t rows_;     // that are shown
  std::uint32_t columns_;  // likewise
  std::map<std::pair<std::uint32_t, std::uint32_t>, Cable> cables_;
  std::vector<std::string> costs_;  // of what is drawn, in the order of the legend
  double width_ = 0;
  double top_ = 0;
  report::Picture picture_;
};

}  // namespace

std::string rails_to_svg(const Fabric& fabric, const RailGrid& grid) { return Drawing(fabric, grid).draw(); }

}  // namespace tutti::report
