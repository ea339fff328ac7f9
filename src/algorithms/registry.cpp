#include "algorithms/registry.hpp"

#include <algorithm>
#include <array>

#include "algorithms/all_reduce/all_reduce.hpp"

namespace tutti {

namespace {

constexpr std::array kAlgorithms = {
    all_reduce::kOneShot,
    all_reduce::kTwoShot,
    all_reduce::kRing,
};

bool same_name(std::string_view left, std::string_view right) {
  const auto fold = [](char letter) { return letter == '-' ? '_' : letter; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return fold(a) == fold(b); });
}

}  // namespace

std::string_view name_of(Channel channel) {
  switch (channel) {
    case Channel::staged: return "staged";
    case Channel::symmetric: return "symmetric";
    case Channel::message: return "message";
  }
  return "unknown";
}

std::span<const Algorithm> all_algorithms() { return kAlgorithms; }

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  const auto found = std::find_if(kAlgorithms.begin(), kAlgorithms.end(), [&](const Algorithm& algorithm) {
    return algorithm.collective == collective && same_name(algorithm.name, name);
  });
  return found == kAlgorithms.end() ? nullptr : &*found;
}

}  // namespace tutti
