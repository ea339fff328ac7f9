// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/output/row_output.hpp"

#include <ostream>

#include "bench/outputs/nccl_tests_layout.hpp"
#include "bench/views/views.hpp"

namespace tutti::cli {

std::string rendered_rows(const std::vector<harness::Row>& rows, const OutputOptions& options, const Context& context) {
  if (!options.as_nccl_tests) return narrowed(harness::table_of(rows), options, context);
  const harness::NcclTestsLayout layout = harness::in_nccl_tests_layout(harness::join_launches(rows));
  for (const std::string& words : layout.left_out) context.error << words << "\n";
  return layout.text;
}

}  // namespace tutti::cli
