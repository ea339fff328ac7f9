// SPDX-License-Identifier: Apache-2.0
#include "cli/host_words.hpp"

#include <CLI/CLI.hpp>

#include "cli/parse_misuse.hpp"

namespace tutti::cli {

void add_host_words(CLI::App& app, HostWords& hosts) {
  CLI::Option* const list =
      not_empty(
          app.add_option("--hosts", hosts.hosts,
                         "Where ranks run, in this order: HOST or HOST:RANKS, with -n at most that many; or "
                         "@FILE with a host a line, as HOST:RANKS or HOST slots=RANKS; or slurm, the nodes of this "
                         "Slurm allocation, with a rank for each task. localhost needs no agent"))
          ->type_name("HOST[:RANKS],…|@FILE|slurm");
  const auto add = [&](const char* name, std::string& value, const char* help, const char* type) {
    not_empty(app.add_option(name, value, help))->type_name(type)->needs(list);
  };
  add("--agent", hosts.agent,
      "What runs a command on a host: {host} in it becomes the host, which otherwise follows it; then the command, as "
      "one word for ssh and rsh, else as words. An mpirun takes it in place of ssh [ssh -o BatchMode=yes; srun "
      "with --hosts slurm]",
      "COMMAND");
  add("--address", hosts.address,
      "The address of this host that other hosts reach, for tutti launch also with a port [the one that leads to the "
      "first of them, and a free port]",
      "ADDRESS[:PORT]");
  add("--tutti", hosts.tutti, "The path of tutti on other hosts [that of this one]", "PATH");
}

}  // namespace tutti::cli
