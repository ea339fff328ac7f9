// SPDX-License-Identifier: Apache-2.0
// A sweep of the environment of a library that reads it when it begins, as a user of such a library writes it.
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <tutti/bench.hpp>

namespace {

using tutti::Context;
using tutti::State;

tutti::Bench cta_sweep() {
  // Stands for a communicator: made once for all cases of a group, from something that only rank 0 knows.
  const auto communicator = std::make_shared<std::string>();
  const std::vector<tutti::bench_values::Any> sizes = {1, 32};
  return tutti::bench("cta_sweep")
      .num_ranks({2})
      .axis("M", sizes)
      .env("NCCL_MIN_CTAS", {tutti::unset, 32})
      .env("NCCL_MAX_CTAS", {32, 64})
      .env_zip({"A", "B"}, {{1, "x"}, {2, tutti::unset}})
      .set_up([communicator](Context& context) {
        if (!communicator->empty()) throw std::runtime_error("set up twice");
        *communicator = context.broadcast(context.rank() == 0 ? std::string(10'000, 'u') : std::string());
      })
      .tear_down([communicator](Context&) { communicator->clear(); })
      .run([communicator](State& state, Context& context) {
        if (*communicator != std::string(10'000, 'u')) state.fail("rank 0's word has not come");
        if (context.broadcast(std::to_string(context.rank()), 1) != "1") state.fail("rank 1's word has not come");
        if (std::getenv("NCCL_MAX_CTAS") == nullptr) state.fail("a variable is missing");
        state.set_bytes(4.0 * static_cast<double>(state.integer("M")));
        state.exec([] {});
      });
}

}  // namespace

int main(int argc, char** argv) { return tutti::bench_main(argc, argv, {cta_sweep()}); }
