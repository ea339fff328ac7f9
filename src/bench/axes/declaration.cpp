// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/declaration.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti {

using harness::Declaration;
using harness::Point;
using harness::Value;

namespace {

Value to_value(const AxisValue& value) {
  return std::visit([](const auto& each) { return Value(each); }, value);
}

AxisValue to_axis_value(const Value& value) {
  if (value.is_integer()) return value.integer();
  if (value.is_number()) return value.number();
  return value.word();
}

void note(Declaration& declaration, const Status& status) {
  if (declaration.error.ok() && !status.ok())
    declaration.error = status.with_context(fmt::format("bench {}", declaration.name));
}

}  // namespace

Bench::Bench(std::string name) : declaration_(std::make_unique<Declaration>()) { declaration_->name = std::move(name); }
Bench::Bench(const Bench& other) : declaration_(std::make_unique<Declaration>(*other.declaration_)) {}
Bench::Bench(Bench&&) noexcept = default;
Bench& Bench::operator=(const Bench& other) {
  if (this != &other) declaration_ = std::make_unique<Declaration>(*other.declaration_);
  return *this;
}
Bench& Bench::operator=(Bench&&) noexcept = default;
Bench::~Bench() = default;

Bench& Bench::num_ranks(std::vector<int> values) {
  declaration_->num_ranks = std::move(values);
  return *this;
}

Bench& Bench::axis(std::string name, std::initializer_list<bench_values::Any> values) {
  return axis(std::move(name), std::vector<bench_values::Any>(values));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): it is a sink to its users
Bench& Bench::axis(std::string name, std::vector<bench_values::Any> values) {
  harness::Axis axis{.name = std::move(name), .values = {}, .peer = {}};
  axis.values.reserve(values.size());
  for (const bench_values::Any& any : values) axis.values.push_back(to_value(any.value));
  declaration_->axes.push_back(std::move(axis));
  return *this;
}

Bench& Bench::axis(std::string name, std::string_view values) {
  Result<std::vector<Value>> parsed = harness::parse_values(values);
  note(*declaration_, parsed.status().ok() ? Status() : parsed.status().with_context("axis " + name));
  if (parsed.ok()) declaration_->axes.push_back({.name = std::move(name), .values = std::move(*parsed), .peer = {}});
  return *this;
}

Bench& Bench::env(std::string name, std::vector<bench_values::AnyEnv> values) {
  std::vector<std::vector<bench_values::AnyEnv>> rows;
  rows.reserve(values.size());
  for (bench_values::AnyEnv& value : values) rows.push_back({std::move(value)});
  return env_zip({std::move(name)}, std::move(rows));
}

Bench& Bench::env_zip(std::vector<std::string> names, std::vector<std::vector<bench_values::AnyEnv>> rows) {
  std::vector<std::vector<EnvValue>> points;
  for (std::vector<bench_values::AnyEnv>& row : rows) {
    if (row.size() != names.size())
      note(*declaration_, Status(Code::invalid_argument, fmt::format("env_zip of {} variables has a row of {} values",
                                                                     names.size(), row.size())));
    std::vector<EnvValue>& point = points.emplace_back();
    for (bench_values::AnyEnv& any : row) point.push_back(std::move(any.value));
  }
  declaration_->environment.push_back({.peer = {}, .names = std::move(names), .points = std::move(points)});
  return *this;
}

Bench& Bench::skip_if(std::function<std::string(const Values& values, int num_ranks)> rule) {
  declaration_->rules.emplace_back([rule = std::move(rule)](const Point& point, int num_ranks) {
    Values values;
    for (const auto& [name, value] : point.values) values.emplace_back(name, to_axis_value(value));
    return rule(values, num_ranks);
  });
  return *this;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): it is a sink to its users
Bench& Bench::check(std::string axis, Check objection) {
  std::erase_if(declaration_->checks, [&](const harness::AxisCheck& other) { return other.axis == axis; });
  declaration_->checks.push_back({std::move(axis), [objection = std::move(objection)](Value& value) {
                                    AxisValue held = to_axis_value(value);
                                    std::string why = objection(held);
                                    value = to_value(held);
                                    return why;
                                  }});
  return *this;
}

Bench& Bench::set_up(std::function<void(Context&)> once) {
  declaration_->set_up = std::move(once);
  return *this;
}

Bench& Bench::tear_down(std::function<void(Context&)> once) {
  declaration_->tear_down = std::move(once);
  return *this;
}

Bench& Bench::run(std::function<void(State&, Context&)> body) {
  declaration_->body = std::move(body);
  return *this;
}

namespace harness {

const Declaration* find(const std::vector<Bench>& benches, std::string_view name) {
  for (const Bench& bench : benches)
    if (same_name(bench.declaration().name, name)) return &bench.declaration();
  return nullptr;
}

}  // namespace harness

}  // namespace tutti
