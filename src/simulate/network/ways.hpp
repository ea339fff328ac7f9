// SPDX-License-Identifier: Apache-2.0
// The links between each two ranks, remembered. One thread at a time; borrows the fabric and the watch.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/routes.hpp"
#include "simulate/engine/watch.hpp"

namespace tutti::simulate {

class Ways {
 public:
  Ways(const fabric::Fabric& fabric, Watch& watch) : fabric_(fabric), watch_(watch), routes_(fabric) {}

  // None where both are at the same node. What is returned stays where it is.
  std::span<const std::uint32_t> between(std::uint32_t from_rank, std::uint32_t to_rank);
  // The same, not remembered: for whoever asks once.
  std::span<const std::uint32_t> make(std::uint32_t from_rank, std::uint32_t to_rank) {
    return make(from_rank, to_rank, [](std::uint32_t link) { return link; });
  }
  // And with each link replaced.
  template <typename Replace>
  std::span<const std::uint32_t> make(std::uint32_t from_rank, std::uint32_t to_rank, const Replace& replace) {
    find(from_rank, to_rank);
    for (std::uint32_t& link : present_) link = replace(link);
    return keep_present();
  }
  // How long a first byte takes; reckoned each time.
  double latency(std::uint32_t from_rank, std::uint32_t to_rank);
  // Links that are remembered.
  [[nodiscard]] std::uint64_t num_kept() const { return num_kept_; }

 private:
  void find(std::uint32_t from_rank, std::uint32_t to_rank) {
    present_.clear();
    routes_.append(fabric_.ranks[from_rank].node, fabric_.ranks[to_rank].node, present_);
    // Who asked looks whether it is over.
    watch_.is_over(1 + present_.size());
  }
  std::span<const std::uint32_t> keep_present();

  const fabric::Fabric& fabric_;
  Watch& watch_;
  fabric::Routes routes_;
  std::unordered_map<std::uint64_t, std::span<const std::uint32_t>> ways_;  // by nodes
  std::vector<std::vector<std::uint32_t>> rooms_;  // for links: filled one after another, none ever grows
  std::uint64_t num_kept_ = 0;
  std::vector<std::uint32_t> present_;  // the way that is being found
};

}  // namespace tutti::simulate
