// SPDX-License-Identifier: Apache-2.0
#include "peers/simulated/simulated_case.hpp"

#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "data/message_size.hpp"
#include "data/no_element.hpp"
#include "data/type.hpp"

namespace tutti::simulated {

namespace {

Result<std::int64_t> whole(const harness::Point& point, std::string_view axis, std::int64_t usual, std::int64_t most) {
  const harness::Value* value = point.find(axis);
  if (value == nullptr) return usual;
  if (value->is_integer() && value->integer() >= 0 && value->integer() <= most) return value->integer();
  return wrong_argument(fmt::format("axis {} is {}; it goes from 0 to {}", axis, in_quotes(value->text()), most));
}

}  // namespace

Result<on_fabric::Call> asked_in(const harness::Row& row) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  const std::optional<Collective> collective = find_collective(row.bench);
  if (!collective)
    return on_fabric::not_here(fmt::format("{} is no collective, and fabrics do nothing else", in_quotes(row.bench)));
  on_fabric::Call asked{.collective = *collective};
  if (asked.collective == Collective::barrier) return asked;
  const harness::Value* type_value = row.point.find("type");
  const std::optional<Type> type = type_from_name(type_value == nullptr ? "f32" : type_value->text());
  if (!type)
    return wrong_argument(
        fmt::format("axis type is {}; the types are: {}", in_quotes(type_value->text()), all_type_names()));
  TUTTI_TRY_ASSIGN(const std::int64_t bytes, whole(row.point, "bytes", 0, kMostBytes));
  TUTTI_TRY_ASSIGN(const std::int64_t root, whole(row.point, "root", 0, row.num_ranks - 1));
  TUTTI_TRY_ASSIGN(const std::int64_t in_place, whole(row.point, "in_place", 0, 1));
  const auto num_ranks = static_cast<std::uint32_t>(row.num_ranks);
  const std::uint32_t blocks = num_blocks(*collective, num_ranks);
  asked.element_size = size_of(*type);
  asked.types = class_of(*type);
  asked.count = elements_of_block(*collective, num_ranks, static_cast<std::uint64_t>(bytes), asked.element_size);
  asked.message_bytes = asked.count * blocks * asked.element_size;
  asked.root = static_cast<std::uint32_t>(root);
  asked.in_place = in_place != 0;
  if (asked.count == 0) return on_fabric::not_here(holds_no_element(static_cast<std::uint64_t>(bytes), *type, blocks));
  return asked;
}

void tell_sizes(const on_fabric::Call& asked, harness::Row& row) {
  if (asked.collective == Collective::barrier) return;
  row.message = harness::Message{static_cast<double>(asked.message_bytes), harness::traffic_of(asked.collective)};
  row.counters["count"] = static_cast<double>(asked.count);
}

}  // namespace tutti::simulated
