// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/bench_store.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/counted.hpp"
#include "base/digest.hpp"
#include "base/system/process_state.hpp"
#include "base/text.hpp"
#include "bench/process/command.hpp"
#include "bench/process/cores.hpp"

namespace tutti::cli {

namespace {

// What stands behind the first "NAME : " in a file of /proc.
std::string value_in(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name))
      if (const std::size_t colon = line.find(':'); colon != std::string::npos)
        return std::string(trim(std::string_view(line).substr(colon + 1)));
  return "unknown";
}

std::string machine() {
  utsname system{};
  ::uname(&system);
  return fmt::format("{}; {}; {}; {} {}", value_in("/proc/cpuinfo", "model name"),
                     counted(harness::allowed_whole_cores().size(), "core"), value_in("/proc/meminfo", "MemTotal"),
                     system.sysname, system.release);
}

// When a process began, in ticks since the machine did; empty where there is none of that number.
std::string beginning_of(const std::string& process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // The name stands in parentheses and may hold anything; of what is behind it, it is the twentieth.
  const std::size_t behind_name = text.rfind(')');
  if (behind_name == std::string::npos) return "";
  const std::vector<std::string_view> words = split(std::string_view(text).substr(behind_name + 2), ' ');
  constexpr std::size_t kBeginning = 19;
  return words.size() > kBeginning ? std::string(words[kBeginning]) : "";
}

std::string name_of_process(const std::string& process) {
  utsname system{};
  ::uname(&system);
  return fmt::format("{} {} {}", system.nodename, process, beginning_of(process));
}

std::string this_process() { return name_of_process(std::to_string(::getpid())); }

}  // namespace

std::string now_in_words() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Result<std::string> store_path(const std::string& option, const Environment& environment) {
  if (!option.empty()) return option;
  Result<std::string> usual = harness::usual_store(environment);
  if (!usual.ok()) return usual.status().with_context("--store FILE says where results are kept");
  return usual;
}

Result<std::string> store_path_to_read(const std::string& option, const Environment& environment) {
  if (!option.empty()) return option;
  Result<std::string> usual = harness::usual_store_path(environment);
  if (!usual.ok()) return usual.status().with_context("--store FILE says where results are kept");
  std::error_code error;
  static_cast<void>(std::filesystem::status(*usual, error));
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    return Status(Code::system, fmt::format("cannot look for kept runs in {}: {}; --store FILE or XDG_DATA_HOME says "
                                            "where they are",
                                            in_quotes(*usual), error.message()));
  return usual;
}

std::optional<std::string> living_owner(const harness::StoredRun& run) {
  const std::vector<std::string_view> words = split(run.owner, ' ');
  if (words.size() != 3) return std::nullopt;
  const std::string process(words[1]);
  if (name_of_process(process) != run.owner || run.owner == this_process()) return std::nullopt;
  // Killed, and not yet waited for, it has its number still.
  if (is_ended(static_cast<pid_t>(std::stol(process)))) return std::nullopt;
  return process;
}

harness::StoredRun new_run(std::string bench, std::string sweep, const Context& context) {
  harness::StoredRun run;
  run.begun = now_in_words();
  run.bench = std::move(bench);
  std::vector<std::string> words{context.program};
  words.insert(words.end(), context.arguments.begin(), context.arguments.end());
  run.command = harness::in_shell(words);
  run.sweep = std::move(sweep);
  run.machine = machine();
  run.tutti = TUTTI_VERSION;
  run.owner = this_process();
  return run;
}

harness::StoredRun run_of(const SweepPlan& plan, const Context& context) {
  std::uint64_t cases = kDigestOfNothing;
  for (const harness::Group& group : plan.groups) {
    cases = digest(harness::to_string(group), cases);
    for (const harness::Case& each : group.cases) cases = digest(harness::to_string(each.point) + each.skipped, cases);
    if (const harness::Reckoner* reckoner = harness::reckoner_of(group, plan.programs))
      cases = digest(fmt::format("{:016x}", reckoner->settings_digest(group)), cases);
  }
  if (plan.command) cases = digest(harness::in_shell(plan.command->words) + plan.command->read.name, cases);
  for (const harness::PeerProgram& program : plan.programs)
    if (program.reckoner != nullptr) cases = digest(program.reckoner->version(), cases);
  // Rows that begin or are checked in another way, or on another machine, are no rows of the same sweep.
  const harness::RunnerOptions& runner = plan.runner;
  const auto sync = runner.measure.sync ? name_of(*runner.measure.sync) : std::string_view("usual");
  const auto launcher = runner.launcher ? name_of(*runner.launcher) : std::string_view("usual");
  cases = digest(fmt::format("{} {} {} {} {} {}", context.arguments.empty() ? "" : context.arguments.front(), sync,
                             launcher, name_of(runner.bind), runner.measure.check, machine()),
                 cases);
  for (const auto& [num_ranks, hosts] : runner.hosts)
    for (const harness::HostEntry& each : hosts.entries)
      cases = digest(fmt::format("{} {}:{}", num_ranks, each.host, each.num_ranks), cases);
  return new_run(plan.sweep.bench, fmt::format("{} {} cases {:016x}", plan.sweep.bench, plan.num_cases(), cases),
                 context);
}

}  // namespace tutti::cli
