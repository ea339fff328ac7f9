#include "schedule/definition.hpp"

namespace tutti {

std::optional<Expected> expected_output(const Schedule& schedule, std::uint32_t /*rank*/, Origin output) {
  switch (schedule.collective) {
    case Collective::all_reduce: return Expected{output, std::nullopt};
  }
  return std::nullopt;
}

std::optional<std::uint32_t> contributions_of_result(const Schedule& schedule) {
  switch (schedule.collective) {
    case Collective::all_reduce: return schedule.num_ranks;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> input_behind(const Schedule& schedule, std::uint32_t /*rank*/,
                                          std::uint32_t output_block) {
  switch (schedule.collective) {
    case Collective::all_reduce: return output_block;
  }
  return std::nullopt;
}

}  // namespace tutti
