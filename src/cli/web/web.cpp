// SPDX-License-Identifier: Apache-2.0
// `tutti web`: the store and its reports in a browser of this machine, live while a sweep runs.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/interrupt.hpp"
#include "cli/web/server.hpp"
#include "cli/web/site.hpp"
#include "cli/web/store_watch.hpp"
#include "cli/web/web_commands.hpp"

namespace tutti::cli {

namespace {

struct WebArguments {
  std::vector<std::string> folders;
  std::string store;
  std::uint16_t port = 0;
};

// The store can be read now. The usual one need not be there where there are folders to show.
Status check_store(const std::string& path, const WebArguments& options, const Context& context) {
  std::error_code none;
  if (options.store.empty() && !std::filesystem::exists(path, none)) {
    if (!options.folders.empty()) return {};
    return {Code::system, fmt::format("no runs yet: there is no file {}; '{} run' keeps the first, and --store FILE "
                                      "names another file",
                                      in_quotes(path), context.program)};
  }
  return harness::Store::open_to_read(path, StoreWatch::kPatience).status();
}

Result<Listener> listen_on(std::uint16_t port) {
  Result<Listener> listener = listen_at({.port = port, .bytes = {127, 0, 0, 1}});
  if (listener.ok() || port == 0) return listener;
  return Status(listener.status().code(), fmt::format("{}; --port 0 takes a free port", listener.status().message()));
}

// What is measured meanwhile comes first.
void give_way_to_others() {
  constexpr int kLess = 10;
  static_cast<void>(::nice(kLess));
}

Status serve_store(const WebArguments& options, const BenchWorld& world, const Context& context) {
  TUTTI_TRY_ASSIGN(std::vector<ReportFolder> folders, report_folders(options.folders));
  TUTTI_TRY_ASSIGN(const std::string path, store_path_to_read(options.store, context.environment));
  TUTTI_TRY(check_store(path, options, context));
  TUTTI_TRY_ASSIGN(const Token token, make_token());
  TUTTI_TRY_ASSIGN(const Listener listener, listen_on(options.port));
  give_way_to_others();
  TUTTI_TRY_ASSIGN(const std::unique_ptr<StoreWatch> watch, StoreWatch::start(path));
  const WebSite site({.store = path, .folders = std::move(folders), .token = token, .port = listener.address.port},
                     world, *watch);
  const Interrupt interrupt;
  context.out << site.address() << std::endl;  // NOLINT(performance-avoid-endl): whoever reads it is to have it now
  context.error << fmt::format("serving {} read-only to browsers on this machine; Ctrl-C ends it\n", printable(path));
  return serve(listener, site, *watch, Interrupt::has_come);
}

Exit web(const WebArguments& options, const BenchWorld& world, const Context& context) {
  if (!has_web_server()) return failed(context, "web", {Code::unsupported, std::string(kServerIsMissing)});
  const Status status = serve_store(options, world, context);
  return status.ok() ? Exit::done : failed(context, "web", status);
}

}  // namespace

Command web_command(const BenchWorld& world) {
  return {.name = "web",
          .summary = "Show kept runs, and folders with reports, in a browser of this machine, live while a sweep runs",
          .examples = "tutti web\ntutti web --store results.db --port 8000\ntutti web build/run",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<WebArguments>();
            app.add_option("folder", options->folders, "Folders with reports and figures to show as well")
                ->type_name("FOLDER");
            app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
            app.add_option("--port", options->port, "The port to listen on; 0 takes a free one")
                ->type_name("N")
                ->capture_default_str();
            return [options, &world](const Context& context) { return web(*options, world, context); };
          }};
}

}  // namespace tutti::cli
