// SPDX-License-Identifier: Apache-2.0
// `tutti run milestone-ccl` as a user calls it, and what is in its folder then.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/milestone/milestone.hpp"

namespace tutti::cli {

// A world without peers: what would be measured is left out.
inline BenchWorld world_of_milestones() {
  BenchWorld world;
  world.default_peers = "tutti";
  world.look_for = [](const std::string&) -> Result<std::string> { return Status(Code::unsupported, "not here"); };
  world.milestones = milestone_benches();
  return world;
}

inline Outcome run_in(const Environment& environment, std::vector<std::string> arguments) {
  const BenchWorld world = world_of_milestones();
  const Command command = run_command(world);
  arguments.insert(arguments.begin(), "run");
  std::ostringstream out;
  std::ostringstream error;
  const Context context{environment, out, error, arguments};
  const Exit exit = run_program(std::span(&command, 1), arguments, context);
  return {exit, out.str(), error.str()};
}
inline Outcome run_milestone_with(std::vector<std::string> arguments) {
  return run_in(Environment(), std::move(arguments));
}
inline Outcome draw_again(std::vector<std::string> arguments) {
  return run_in(Environment{{"MILESTONE_FAST", "1"}}, std::move(arguments));
}

// Every file of the folder with its text.
inline std::map<std::string, std::string> files_in(const test::TemporaryFolder& folder, const std::string& name) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file(name)))
    files[entry.path().filename().string()] = folder.read(name + "/" + entry.path().filename().string());
  return files;
}

inline nlohmann::json index_in(const test::TemporaryFolder& folder, const std::string& name) {
  return nlohmann::json::parse(folder.read(name + "/index.json"), nullptr, false);
}

// All files that the index names, of parts and of none.
inline std::set<std::string> named_files(const nlohmann::json& index) {
  std::set<std::string> names;
  for (const auto& each : index["files"]) names.insert(each["file"].get<std::string>());
  for (const auto& part : index["parts"])
    for (const auto& each : part["files"]) names.insert(each["file"].get<std::string>());
  return names;
}

}  // namespace tutti::cli
