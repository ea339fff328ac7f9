// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/sweep_environment.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "bench/axes/environment_axis.hpp"
#include "cli/bench/sweep/peer_options.hpp"
#include "cli/command.hpp"
#include "cli/variables_check.hpp"

namespace tutti::cli {

namespace {

using harness::EnvironmentAxis;
using Parse = Result<EnvironmentAxis>(std::string_view text);
using Texts = std::span<const std::string>;

// `asked` are the axes from the same source as this one: a second axis of the same variables would be lost.
Status add(const std::string& text, Parse& parse, std::vector<EnvironmentAxis>& asked, harness::Sweep& sweep) {
  const auto [peer, rest] = peer_in_front(text, sweep.peers);
  Result<EnvironmentAxis> axis = parse(rest);
  if (!axis.ok()) return axis.status();
  if (!axis->peer.empty())
    return wrong_argument(fmt::format("{} is for peer {}, which is not measured", axis->names[0], axis->peer));
  axis->peer = peer;
  // A repeated value would be measured twice and kept once.
  for (auto point = axis->points.begin(); point != axis->points.end(); ++point)
    if (std::find(axis->points.begin(), point, *point) != point)
      return wrong_argument(fmt::format("{} has a value twice", axis->names[0]));
  const auto is_same = [&](const EnvironmentAxis& other) {
    return other.peer == axis->peer && other.names == axis->names;
  };
  if (std::any_of(asked.begin(), asked.end(), is_same))
    return wrong_argument(fmt::format("{}{} is given twice; give all its values in one --env or --env-zip",
                                      axis->peer.empty() ? "" : axis->peer + ":", fmt::join(axis->names, ",")));
  asked.push_back(*axis);
  std::erase_if(sweep.environment, is_same);
  sweep.environment.push_back(std::move(*axis));
  return {};
}

// What one place says.
Status add_all(Texts env, Texts env_zip, harness::Sweep& sweep) {
  std::vector<EnvironmentAxis> asked;
  for (const std::string& text : env) TUTTI_TRY(add(text, harness::parse_env, asked, sweep));
  for (const std::string& text : env_zip) TUTTI_TRY(add(text, harness::parse_env_zip, asked, sweep));
  return {};
}

}  // namespace

Status add_environments(const SweepOptions& given, const SweepOptions& options, harness::Sweep& sweep,
                        std::vector<std::string>& warnings) {
  const Texts env = options.env;
  const Texts env_zip = options.env_zip;
  const std::size_t env_of_file = env.size() - given.env.size();
  const std::size_t env_zip_of_file = env_zip.size() - given.env_zip.size();
  TUTTI_TRY(add_all(env.first(env_of_file), env_zip.first(env_zip_of_file), sweep));
  TUTTI_TRY(add_all(env.subspan(env_of_file), env_zip.subspan(env_zip_of_file), sweep));
  return check_swept_variables(sweep.environment, warnings);
}

}  // namespace tutti::cli
