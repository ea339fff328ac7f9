// SPDX-License-Identifier: Apache-2.0
#include "cli/variables_check.hpp"

#include <algorithm>
#include <ostream>

#include "base/variables/bench_variables.hpp"
#include "base/variables/variables.hpp"

namespace tutti::cli {

namespace {

// Other programs may read the others too.
bool is_own_name(const BenchVariable& variable) { return std::string_view(variable.name).starts_with("TUTTI_"); }

Status check_found(const BenchVariable& variable, const Environment& environment) {
  const std::optional<std::string> value = environment.lookup(variable.name);
  return value ? check_variable(variable.name, *value) : Status();
}

}  // namespace

Exit check_own_variables(const Context& context) {
  const VariablesReading reading = Variables::read(context.environment, ConfPaths::standard(context.environment));
  for (const std::string& warning : reading.variables.warnings())
    context.error << context.program << ": warning: " << warning << "\n";
  std::vector<std::string> problems;
  for (const VariableProblem& problem : reading.problems) problems.push_back(problem.text);
  for (const BenchVariable& each : kBenchVariables) {
    if (!is_own_name(each)) continue;
    if (const Status status = check_found(each, context.environment); !status.ok())
      problems.push_back(status.to_string());
  }
  for (const std::string& problem : problems) context.error << context.program << ": " << problem << "\n";
  return problems.empty() ? Exit::done : Exit::misused;
}

Status check_bench_variables(const Environment& environment) {
  for (const BenchVariable& each : kBenchVariables)
    if (!is_own_name(each)) TUTTI_TRY(check_found(each, environment));
  return {};
}

Status check_given_variable(std::string_view option, std::string_view name, const std::optional<std::string>& value,
                            std::vector<std::string>& warnings) {
  const std::string unknown = unknown_variable(name, option);
  std::string warning = "warning: " + unknown;
  const bool is_new = std::find(warnings.begin(), warnings.end(), warning) == warnings.end();
  if (!unknown.empty() && is_new) warnings.push_back(std::move(warning));
  return value ? check_variable(name, *value).with_context(std::string(option)) : Status();
}

Status check_swept_variables(const std::vector<harness::EnvironmentAxis>& axes, std::vector<std::string>& warnings) {
  for (const harness::EnvironmentAxis& axis : axes)
    for (const auto& point : axis.points)
      for (std::size_t place = 0; place < axis.names.size(); ++place)
        TUTTI_TRY(check_given_variable(axis.names.size() == 1 ? "--env" : "--env-zip", axis.names[place], point[place],
                                       warnings));
  return {};
}

}  // namespace tutti::cli
