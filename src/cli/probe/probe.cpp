// SPDX-License-Identifier: Apache-2.0
// `tutti probe`: what this machine is, and, calibrated, what simulations of it are made of.
#include <memory>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/variables/conf.hpp"
#include "base/variables/variables.hpp"
#include "bench/views/table.hpp"
#include "calibrate/fit.hpp"
#include "calibrate/measure.hpp"
#include "calibrate/ping_pong.hpp"
#include "cli/commands.hpp"
#include "cli/host_words.hpp"
#include "cli/number.hpp"
#include "cli/output.hpp"
#include "cli/probe/measurements_table.hpp"
#include "cli/probe/probe_device.hpp"
#include "cli/probe/probe_hosts.hpp"
#include "cli/probe/probe_rank.hpp"
#include "cli/schedule/case_options.hpp"
#include "runtime/selection/profile_choice.hpp"
#include "runtime/selection/profile_file.hpp"
#include "runtime/selection/table_choice.hpp"
#include "table/machine_identity.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostProbedRanks = 1024;
constexpr std::uint32_t kProbedRanks = 2;
constexpr std::uint32_t kMostDevices = 1024;

struct ProbeOptions {
  bool calibrate = false;
  bool profile = false;
  std::string of_network;
  std::uint32_t ranks = 0;  // 0: the usual number
  std::optional<std::uint32_t> device;
  HostWords on;
  std::string path;
  Format format = Format::table;
};

Exit calibrate_machine(const ProbeOptions& options, const Context& context) {
  OutputOptions output;
  output.path = options.path;
  if (const Status status = check_output(output); !status.ok()) return failed(context, "probe", status);
  const Result<Variables> variables = Variables::load(context.environment, ConfPaths::standard(context.environment));
  if (!variables.ok()) return failed(context, "probe", variables.status());
  if (const Status status = calibrate::can_measure(); !status.ok()) return failed(context, "probe", status);
  context.error << "measuring ping-pong, swaps, small all-reduces and reduction kernels on two cores; some seconds\n";
  const Result<calibrate::Measurements> measured = calibrate::measure(*variables);
  if (!measured.ok()) return failed(context, "probe", measured.status());
  OutputOptions of_table;
  of_table.format = options.format;
  if (options.format == Format::table) {
    for (const Table& each : tables_of_measurements(*measured)) context.out << rendered(each, of_table) << "\n";
  } else {
    context.out << rendered(table_of_measurements(*measured), of_table);
  }
  context.error << fmt::format(
      "{}: a call {:.0f} ns, a step {:.0f} ns, from one process of a core to the next {:.0f} ns\n", measured->machine,
      measured->call, measured->step, measured->core_switch);
  if (const std::string words = calibrate::unsteadiness_in_words(*measured); !words.empty())
    context.error << fmt::format("{} probe: {}; what it predicts holds as long as it is as it was then\n",
                                 context.program, words);
  if (options.path.empty()) {
    context.error << "-o FILE keeps it as a fabric\n";
    return Exit::done;
  }
  const std::string text = calibrate::file_of(*measured, options.ranks == 0 ? kProbedRanks : options.ranks);
  if (const Status status = write_output(text, output, context); !status.ok()) return failed(context, "probe", status);
  context.error << fmt::format("{} simulate --fabric {} --collective all_reduce takes it\n", context.program,
                               with_folder(options.path));
  return Exit::done;
}

// The profile as a file, with every number and, in a comment, what its sizes follow from.
std::string resolved_profile(const ProfileChoice& choice) {
  const CacheSizes caches = CacheSizes::of_this_machine();
  return fmt::format("# {}: {}. Its caches: first {}, a core's own {}, last {}.\n{}", choice.profile->title(),
                     choice.why, to_text(Bytes(caches.first)), to_text(Bytes(caches.core)), to_text(Bytes(caches.last)),
                     write_profile(*choice.profile));
}

Exit run_probe(const ProbeOptions& options, const Context& context) {
  if (!options.of_network.empty()) {
    const Result<RankTask> task = parse_rank_task(options.of_network);
    return task.ok() ? probe_as_rank(*task, context) : failed(context, "probe", task.status());
  }
  if (options.calibrate && options.device) {
    if (!options.on.hosts.empty())
      return misused(context, "probe", "--device measures a device of this host; leave out --hosts");
    return probe_device({.what = {.device = static_cast<int>(*options.device),
                                  .num_ranks = options.ranks == 0 ? kProbedRanks : options.ranks},
                         .path = options.path,
                         .format = options.format},
                        context);
  }
  if (options.calibrate && !options.on.hosts.empty()) {
    HostsProbe probe{.on = options.on, .num_ranks = {}, .path = options.path, .format = options.format};
    if (options.ranks > 0) probe.num_ranks = static_cast<int>(options.ranks);
    return probe_hosts(probe, context);
  }
  if (options.calibrate) return calibrate_machine(options, context);
  if (!options.on.hosts.empty()) return misused(context, "probe", "--hosts is for --calibrate");
  if (!options.path.empty() && !options.profile)
    return misused(context, "probe", "--output is for --calibrate or --profile");
  const Result<Variables> variables = Variables::load(context.environment, ConfPaths::standard(context.environment));
  if (!variables.ok()) return failed(context, "probe", variables.status());
  const ProfileChoice choice = choose_profile(variables->text(VariableId::profile));
  if (!choice.unread.ok()) return failed(context, "probe", choice.unread);
  if (options.profile) {
    OutputOptions output;
    output.path = options.path;
    const Status written = write_output(resolved_profile(choice), output, context);
    return written.ok() ? Exit::done : failed(context, "probe", written);
  }
  context.out << calibrate::machine_in_words() << "\n";
  for (const std::string& line : calibrate::topology_of_machine().lines) context.out << line << "\n";
  context.out << fmt::format("machine profile {}: {}\n", choice.profile->title(), choice.why);
  const TableChoice table = choose_table(*variables);
  for (const std::string& warning : table.warnings) context.error << "warning: " << warning << "\n";
  if (!table.unread.ok()) return failed(context, "probe", table.unread);
  context.out << fmt::format("decision table {}: {}\n", table.table == nullptr ? "none" : table.table->title(),
                             table.why);
  context.out << fmt::format("fingerprint {}\n", fingerprint_of(identity_of_machine()));
  return Exit::done;
}

Run define_probe(CLI::App& app) {
  const auto options = std::make_shared<ProbeOptions>();
  CLI::Option* calibrate =
      app.add_flag("--calibrate", options->calibrate,
                   "Measure ping-pong, swaps, small all-reduces and reduction kernels on two "
                   "cores, and how much farther other cores are; with --hosts, the network: "
                   "latency, overheads, and rates one way and both ways, for each pair of hosts "
                   "alone, then for all hosts at once; of several interfaces (TUTTI_SOCKET_IFNAME), "
                   "each alone, then all at once. The fabric then has messages, and no direct "
                   "steps, between ranks of one host");
  app.add_option_function<std::string>(
         "-n,--num-ranks", number_into("--num-ranks", 1, kMostProbedRanks, options->ranks),
         "How many ranks the fabric has; they share the cores [2], or the device [2], or run on --hosts")
      ->type_name("N")
      ->needs(calibrate);
  app.add_option_function<std::string>(
         "--device", number_into("--device", 0, kMostDevices, options->device),
         "Measure the CUDA device of this number, not cores, with 2 to 8 ranks that share it: launches, flags, copies "
         "and sums. Then compare the fabric's predictions with calls on the device")
      ->type_name("N")
      ->needs(calibrate);
  CLI::Option* profile =
      app.add_flag("--profile", options->profile,
                   "Print the machine profile in force (TUTTI_PROFILE), with every number, as a file");
  profile->excludes(calibrate);
  app.add_option("-o,--output", options->path,
                 "Write the fabric to this file, for tutti simulate --fabric; or the profile, for TUTTI_PROFILE")
      ->type_name("FILE");
  add_host_words(app, options->on);
  app.add_option("--of-network", options->of_network)->group("");
  app.add_flag_callback(
         "--json", [options] { options->format = Format::json; },
         "Print what was measured as JSON; with --hosts, the pairs")
      ->needs(calibrate);
  return [options](const Context& context) { return run_probe(*options, context); };
}

}  // namespace

Command probe_command() {
  return {.name = "probe",
          .summary = "Describe this machine, or measure it and make a fabric of it for simulations",
          .examples =
              "tutti probe\n"
              "tutti probe --profile -o my_profile.toml\n"
              "tutti probe --calibrate -o machine.toml\n"
              "tutti simulate --fabric ./machine.toml --collective all_reduce --bytes 64:16M:x4\n"
              "tutti probe --hosts node1:4,node2:4 --calibrate -o network.toml\n"
              "tutti probe --calibrate --device 0 -n 4 -o device.toml\n"
              "tutti simulate --fabric ./machine.toml:4x2 --collective all_reduce --bytes 1M --why",
          .define = define_probe};
}

}  // namespace tutti::cli
