// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.hpp"
#include "fabric/fabric.hpp"

namespace tutti::fabric {

bool is_compiled_for(const Fabric& fabric, std::string_view algorithm, std::uint32_t ranks) {
  const std::string_view name = algorithm.substr(0, algorithm.find('('));
  const auto is_it = [&](const Kernel& kernel) { return same_name(kernel.algorithm, name); };
  const auto kernel = std::find_if(fabric.kernels.begin(), fabric.kernels.end(), is_it);
  return kernel == fabric.kernels.end() ||
         std::find(kernel->ranks.begin(), kernel->ranks.end(), ranks) != kernel->ranks.end();
}

}  // namespace tutti::fabric
