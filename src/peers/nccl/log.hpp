// SPDX-License-Identifier: Apache-2.0
// What NCCL's log tells of the variables that it has read. The log goes to memory without a name. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/system/unique_fd.hpp"
#include "base/variables/environment.hpp"
#include "peers/nccl/library.hpp"
#include "peers/peer.hpp"

namespace tutti::peers::nccl {

class Log {
 public:
  // Where variables of NCCL's are swept and nobody else wants its log, sets those that write it: to be called before
  // the library is opened. It tells of variables alone: what it would tell of calls would be timed.
  void begin(const std::vector<harness::Setting>& settings, const Environment& environment);
  // Null where there is none.
  [[nodiscard]] std::optional<std::string> text() const;

 private:
  UniqueFd file_;
};

// Whether the setting was obeyed, as the log has it; pure.
[[nodiscard]] harness::Evidence evidence_in(const std::optional<std::string>& log, const harness::Setting& setting,
                                            int version);

}  // namespace tutti::peers::nccl
