// SPDX-License-Identifier: Apache-2.0
// `tutti fabric`: what a fabric is, in a line, as a file, or as a picture.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/machine/fabric_tables.hpp"
#include "cli/output.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/files/load.hpp"
#include "report/fabric/fabric_svg.hpp"

namespace tutti::cli {

namespace {

struct FabricArguments {
  std::string fabric;
  bool toml = false;
  bool svg = false;
  OutputOptions output;
};

Result<std::string> shown(const FabricArguments& options, const fabric::Fabric& fabric) {
  if (options.toml) return fabric::write_fabric(fabric);
  if (!options.svg) return rendered(fabric_summary(fabric), options.output);
  if (fabric.nodes.size() > report::kMostDrawnNodes)
    return Status(Code::invalid_argument, fmt::format("a picture of {} nodes would show nothing; {} can be drawn",
                                                      fabric.nodes.size(), report::kMostDrawnNodes));
  return report::fabric_to_svg(fabric);
}

Exit run(const FabricArguments& options, const Context& context) {
  const Result<fabric::Fabric> fabric = fabric::load_fabric(options.fabric);
  if (!fabric.ok()) return failed(context, "fabric", fabric.status());
  const Result<std::string> text = shown(options, *fabric);
  if (!text.ok()) return failed(context, "fabric", text.status());
  const Status written = write_output(*text, options.output, context);
  return written.ok() ? Exit::done : failed(context, "fabric", written);
}

Run define_fabric(CLI::App& app) {
  const auto options = std::make_shared<FabricArguments>();
  app.add_option("fabric", options->fabric,
                 "KIND:SIZE,NAME=VALUE,... of a generator, a file, or a name ('tutti list fabrics' has all)")
      ->type_name("FABRIC")
      ->required();
  CLI::Option* toml =
      app.add_flag("--toml", options->toml, "Write the fabric as a file, which can be edited and read back");
  CLI::Option* svg = app.add_flag("--svg", options->svg, "Draw it (SVG)");
  svg->excludes(toml);
  add_output_options(app, options->output);
  for (const char* name : {"--format", "--json"}) {
    toml->excludes(app.get_option(name));
    svg->excludes(app.get_option(name));
  }
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command fabric_command() {
  return {.name = "fabric",
          .summary = "Show a fabric, a machine to simulate: its parts, its file, or a picture of it",
          .examples =
              "tutti fabric torus_2d:2x3,bandwidth=25GB/s,latency=1us\n"
              "tutti fabric h100_cluster:16x8 --svg -o cluster.svg\n"
              "tutti fabric switch:4,latency=1us,inner=packages:4x4x8 --toml -o machine.toml\n"
              "tutti fabric ./machine.toml,memory=hbm --json",
          .define = define_fabric};
}

}  // namespace tutti::cli
