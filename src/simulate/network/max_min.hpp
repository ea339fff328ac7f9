// SPDX-License-Identifier: Apache-2.0
// Max-min fair rates: of flows over links of given capacities, the rates such that none can grow without making one
// shrink that is not greater.
//
// Progressive filling (Bertsekas, Gallager, Data Networks, 6.5.2): all flows grow alike until a link is full. Its flows
// stay as they are, and what they take of their other links is gone; the rest goes on growing. What is left for each
// flow of a link only grows meanwhile, so links wait in a heap with what they had when they were put there.
//
// Keeps its room from one solution to the next; one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti::simulate {

struct Flow {
  std::span<const std::uint32_t> links;  // one that stands there several times carries the flow as often
  double rate = 0;                       // the answer
};

class MaxMin {
 public:
  // Of each link; 0 is no limit.
  explicit MaxMin(std::vector<double> capacities);

  // Sets the rates. A flow that no link limits has an infinite one.
  void solve(std::span<Flow> flows);

 private:
  struct Link {
    double capacity = 0;
    double left = 0;
    std::uint32_t open = 0;            // flows whose rate is not known yet
    std::vector<std::uint32_t> flows;  // that cross it
  };

  std::vector<Link> links_;
  std::vector<std::uint32_t> used_;
  std::vector<std::pair<double, std::uint32_t>> waiting_;  // a heap: what each flow of a link would get, and the link
  std::vector<bool> known_;
};

}  // namespace tutti::simulate
