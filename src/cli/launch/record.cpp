// SPDX-License-Identifier: Apache-2.0
// `tutti record -- PROGRAM`: runs a program, and writes which collectives it has called as a workload.
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/system/temporary_folder.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/launch/foreground.hpp"
#include "cli/launch/own_library.hpp"
#include "cli/launch/recording.hpp"
#include "cli/output.hpp"
#include "launch/process_group.hpp"
#include "runtime/bootstrap/gathering.hpp"

namespace tutti::cli {

namespace {

// As shells have it.
constexpr int kNotStarted = 127;
constexpr int kNotStartable = 126;

constexpr const char* kMpiRecorder = "libtutti-mpi-recorder.so";

struct RecordArguments {
  std::string path = "workload.toml";
  std::string num_ranks;
  std::string from;
  bool leaves_mpi = false;
  bool prints_preload = false;
  std::vector<std::string> command;
};

Status check_arguments(const RecordArguments& options, int& num_ranks) {
  if (options.prints_preload &&
      !(options.command.empty() && options.num_ranks.empty() && options.from.empty() && !options.leaves_mpi))
    return wrong_argument("--print-preload goes with nothing else");
  if (options.prints_preload) return {};
  if (!options.from.empty()) {
    if (!options.command.empty() || !options.num_ranks.empty() || options.leaves_mpi)
      return wrong_argument("--from reads what is there; it takes no program, no -n and no --no-mpi");
    return {};
  }
  if (options.command.empty())
    return wrong_argument("there is no program to run; it comes after the options: tutti record -n 2 -- PROGRAM");
  if (options.num_ranks.empty()) return {};
  const Result<std::int64_t> number = parse_integer(options.num_ranks);
  if (!number.ok() || *number < 1 || *number > kMostRanksOnHost)
    return wrong_argument(fmt::format("-n is {}; it takes a number of ranks from 1 to {}", in_quotes(options.num_ranks),
                                      kMostRanksOnHost));
  num_ranks = static_cast<int>(*number);
  return {};
}

// The loader takes blanks and colons for the ends of paths.
Result<std::string> preload_of_mpi() {
  const std::string path = find_own_library(kMpiRecorder);
  if (path.empty())
    return Status(Code::unsupported,
                  fmt::format("{} is neither beside this program nor where it is installed", kMpiRecorder));
  if (path.find_first_of(" :") != std::string::npos)
    return Status(Code::unsupported,
                  fmt::format("{} cannot be preloaded: its path has a blank or a colon", in_quotes(path)));
  return path;
}

// MPI programs find the functions of MPI in the recorder first.
void record_mpi(Environment& environment, const Context& context) {
  const Result<std::string> path = preload_of_mpi();
  if (!path.ok()) {
    context.error << "tutti record: calls of MPI are not recorded: " << path.status().message() << "\n";
    return;
  }
  const std::string others = environment.lookup("LD_PRELOAD").value_or("");
  // Other tools of MPI are called by ours. A sanitizer must come first.
  const bool is_behind = others.find("san.so") != std::string::npos;
  environment.set("LD_PRELOAD", others.empty() ? *path
                                : is_behind    ? fmt::format("{}:{}", others, *path)
                                               : fmt::format("{}:{}", *path, others));
}

// Its exit status.
Result<int> run_recorded_program(const RecordArguments& options, int num_ranks, const std::string& folder,
                                 const Context& context) {
  Environment environment = context.environment;
  environment.set("TUTTI_RECORD", folder);
  if (!options.leaves_mpi) record_mpi(environment, context);
  if (num_ranks > 0) {
    launch::GroupOptions group;
    group.num_ranks = num_ranks;
    group.command = options.command;
    group.environment = std::move(environment);
    return launch::run_group(group, context.out, context.error);
  }
  context.out.flush();
  context.error.flush();
  TUTTI_TRY_ASSIGN(const ForegroundEnd end, run_in_foreground(options.command, environment));
  if (end.refused != 0)
    context.error << fmt::format("tutti record: cannot run {}: {}\n", in_quotes(options.command.front()),
                                 std::strerror(end.refused));
  return end.status;
}

std::string about_of(const std::vector<std::string>& command) {
  std::string about = "recorded:";
  for (const std::string& word : command) about += " " + word;
  constexpr std::size_t kMostAbout = 200;
  return about.size() > kMostAbout ? about.substr(0, kMostAbout) + " ..." : about;
}

// If nothing was recorded, the exit status is not 0, even if the program succeeded.
Result<Exit> write_workload(const RecordArguments& options, const std::string& folder, int status,
                            const Context& context) {
  Result<Merged> merged = merge_folder(folder);
  if (!merged.ok() && merged.status().code() != Code::invalid_usage) return merged.status();
  if (!merged.ok()) {
    // Then that was said, or the program itself has said why.
    if (status == kNotStarted || status == kNotStartable) return static_cast<Exit>(status);
    context.error << fmt::format(
        "tutti record: {} is not written: {}. It sees collectives of Tutti's library, and of Open MPI or MPICH where "
        "that is a shared library.\n",
        in_quotes(options.path), merged.status().message());
    return status != 0 ? static_cast<Exit>(status) : Exit::not_done;
  }
  merged->workload.about = options.command.empty() ? "" : about_of(options.command);
  TUTTI_TRY(write_output(to_text(merged->workload), {.path = options.path}, context));
  tell_workload(merged->workload, context);
  for (const std::string& note : merged->notes) context.error << "tutti record: " << note << "\n";
  if (status != 0) context.error << "tutti record: the program ended with exit status " << status << "\n";
  // Of an MPI it is the MPI that is tuned.
  const bool is_peer = merged->api == "openmpi" || merged->api == "mpich";
  context.error << fmt::format(
      "wrote {}; next: tutti tune {}--workload {}, or tutti simulate --workload {} --fabric FABRIC\n", options.path,
      is_peer ? fmt::format("--peer {} ", merged->api) : "", options.path, options.path);
  return static_cast<Exit>(status);
}

Result<Exit> record_calls(const RecordArguments& options, const Context& context) {
  int num_ranks = 0;
  TUTTI_TRY(check_arguments(options, num_ranks));
  if (options.prints_preload) {
    TUTTI_TRY_ASSIGN(const std::string path, preload_of_mpi());
    context.out << path << "\n";
    return Exit::done;
  }
  TUTTI_TRY(check_output({.path = options.path}));
  if (!options.from.empty()) return write_workload(options, options.from, 0, context);
  TUTTI_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make("record"));
  TUTTI_TRY_ASSIGN(const int status, run_recorded_program(options, num_ranks, folder.path(), context));
  return write_workload(options, folder.path(), status, context);
}

Run define_record(CLI::App& app) {
  const auto options = std::make_shared<RecordArguments>();  // shared with the closure, which std::function copies
  app.add_option("-o,--output", options->path, "The workload file to write")
      ->type_name("FILE")
      ->check(objection_to_file)
      ->capture_default_str();
  app.add_option("-n,--num-ranks", options->num_ranks,
                 "Start this many ranks of the program, as tutti launch does; without it, run the program as it is, "
                 "which may be a launcher")
      ->type_name("N");
  app.add_option("--from", options->from,
                 "Run nothing: read what a program has written that was run with TUTTI_RECORD set to this folder")
      ->type_name("FOLDER");
  app.add_flag("--no-mpi", options->leaves_mpi, "Preload nothing: record the calls of Tutti's library alone");
  app.add_flag("--print-preload", options->prints_preload,
               "Run nothing: print the path of the library that records MPI calls, for LD_PRELOAD");
  app.add_option("program", options->command,
                 "What to run, with its arguments; put -- before it, so that its options are not read as tutti's")
      ->type_name("PROGRAM [ARGUMENTS]");
  return [options](const Context& context) {
    const Result<Exit> exit = record_calls(*options, context);
    return exit.ok() ? *exit : failed(context, "record", exit.status());
  };
}

}  // namespace

Command record_command() {
  return {.name = "record",
          .summary = "Run a program that uses Tutti or MPI, and write which collectives it calls as a workload",
          .examples =
              "tutti record -n 4 -- ./program\n"
              "tutti record -o step.toml -- mpirun -n 4 python3 train.py\n"
              "TUTTI_RECORD=/tmp/parts srun -n 8 ./program; tutti record --from /tmp/parts\n"
              "export TUTTI_RECORD=/tmp/parts LD_PRELOAD=$(tutti record --print-preload)",
          .define = define_record};
}

}  // namespace tutti::cli
