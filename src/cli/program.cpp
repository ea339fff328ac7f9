// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <ostream>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/description.hpp"
#include "cli/other_names.hpp"
#include "cli/parse_misuse.hpp"
#include "cli/variables_check.hpp"

namespace tutti::cli {

namespace {

struct Defined {
  CLI::App* app;
  Run run;
  bool tells_variables = false;
  std::string_view examples;
};

// What --help shows: of a command, or of the program where none is chosen.
std::string help_of_program(const CLI::App& app, std::span<const Defined> defined) {
  std::string text =
      fmt::format("{}\nUsage: {} COMMAND [OPTIONS] [ARGUMENTS]\n\nOptions:\n", app.get_description(), app.get_name());
  for (const OptionDescription& option : describe(app, "").options) text += help_line(option.heading(), option.help);
  text += "\nCommands:\n";
  for (const Defined& command : defined) text += help_line(command.app->get_name(), command.app->get_description());
  return text + fmt::format(
                    "\n'{0} help COMMAND' tells more about a command.\n\n"
                    "Exit status:\n"
                    "  0         done\n"
                    "  1         a check failed, or the system refused: a file is missing, a disk is full\n"
                    "  2         misused: an option, a value, or the text of a file is wrong\n"
                    "  130, 143  interrupted by SIGINT or SIGTERM; what was measured is kept\n",
                    app.get_name());
}

Exit unknown_command(std::span<const Command> commands, const std::string& name, const Context& context) {
  std::vector<std::string_view> names;
  std::transform(commands.begin(), commands.end(), std::back_inserter(names),
                 [](const Command& command) { return command.name; });
  return misused(context, "", fmt::format("{} is not a command{}", in_quotes(name), nearest_hint(name, names)));
}

// What the command does not know, with the nearest option that it does know.
std::string unexpected(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining();
  if (rest.empty()) return "something was not expected";
  const std::string& found = rest.front();
  if (!found.starts_with('-')) return fmt::format("{} was not expected here", in_quotes(found));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view bare = std::string_view(found).substr(0, found.find('='));
  return fmt::format("{} is not an option{}", in_quotes(bare), nearest_hint(bare, views));
}

// Renames options to the name that the command lists. Arguments after -- are not the command's; nor may be those after
// the program that a command starts.
void use_listed_names(const CLI::App& command, std::vector<std::string>& arguments) {
  const auto has = [&](std::string_view name) {
    return command.get_option_no_throw(fmt::format("--{}", name)) != nullptr;
  };
  if (command.get_option_no_throw("program") != nullptr) return;
  for (std::string& argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--")) continue;
    const std::size_t end = std::min(argument.find('='), argument.size());
    const std::string name = argument.substr(2, end - 2);
    if (const std::string_view listed = other_name(name); !has(name) && !listed.empty() && has(listed))
      argument.replace(2, end - 2, listed);
  }
}

// "help run" is "run --help".
std::vector<std::string> without_help_command(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

// CLI11 takes the arguments last first.
std::vector<std::string> reversed(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

Exit parse_and_run(CLI::App& app, std::span<const Defined> defined, const std::vector<std::string>& arguments,
                   const Context& context) {
  const auto is_chosen = [](const Defined& command) { return command.app->parsed(); };
  const auto chosen = [&] { return std::find_if(defined.begin(), defined.end(), is_chosen); };
  const auto app_in_charge = [&]() -> CLI::App& { return chosen() == defined.end() ? app : *chosen()->app; };
  const auto name_in_charge = [&] { return chosen() == defined.end() ? std::string() : chosen()->app->get_name(); };
  try {
    app.parse(reversed(arguments));
  } catch (const CLI::CallForHelp&) {
    context.out << (chosen() == defined.end() ? help_of_program(app, defined)
                                              : help_of(describe(*chosen()->app, chosen()->examples), context.program));
    return Exit::done;
  } catch (const CLI::CallForVersion&) {
    context.out << "tutti " << TUTTI_VERSION << "\n";
    return Exit::done;
  } catch (const CLI::ExtrasError&) {
    if (const std::vector<std::string> before = app.remaining(); !before.empty() && chosen() != defined.end())
      return misused(context, name_in_charge(),
                     fmt::format("{} is before the command; options come behind it", in_quotes(before.front())));
    return misused(context, name_in_charge(), unexpected(app_in_charge()));
  } catch (const CLI::ParseError& error) {
    return misused(context, name_in_charge(), misuse_in_words(app_in_charge(), error));
  }
  if (chosen() == defined.end()) {
    context.error << help_of_program(app, defined);
    return Exit::misused;
  }
  // What a command has started itself says nothing that the command has said already.
  const auto is_given = [&](const char* name) {
    const CLI::Option* const option = chosen()->app->get_option_no_throw(name);
    return option != nullptr && option->count() != 0;
  };
  if (!chosen()->tells_variables && !is_given("--as-rank") && !is_given("--remote"))
    if (const Exit checked = check_own_variables(context); checked != Exit::done) return checked;
  return chosen()->run(context);
}

}  // namespace

Exit misused(const Context& context, std::string_view command, std::string_view what) {
  const std::string whole = command.empty() ? context.program : fmt::format("{} {}", context.program, command);
  context.error << whole << ": " << what << "\n"
                << "'" << whole << " --help' tells more\n";
  return Exit::misused;
}

Exit exit_of(const Status& error) {
  const Code code = error.code();
  const bool is_misuse = code == Code::invalid_argument || code == Code::invalid_usage || code == Code::unsupported;
  return is_misuse ? Exit::misused : Exit::not_done;
}

Exit failed(const Context& context, std::string_view command, const Status& error) {
  if (exit_of(error) == Exit::misused) return misused(context, command, error.to_string());
  context.error << context.program << (command.empty() ? "" : " ") << command << ": " << error.to_string() << "\n";
  return Exit::not_done;
}

Exit run_program(std::span<const Command> commands, const std::vector<std::string>& given, const Context& context) {
  std::vector<std::string> arguments = without_help_command(given);
  const auto has_name = [&](const Command& command) { return same_name(command.name, arguments.front()); };
  const bool names_command = !arguments.empty() && !arguments.front().starts_with('-');
  if (names_command && std::none_of(commands.begin(), commands.end(), has_name)) {
    return unknown_command(commands, arguments.front(), context);
  }
  CLI::App app("Tutti finds the fastest way to do a collective operation on the machine at hand.", context.program);
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", std::string(TUTTI_VERSION), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this and exit");
  std::vector<Defined> defined;
  for (const Command& command : commands) {
    CLI::App* own = app.add_subcommand(std::string(command.name), std::string(command.summary));
    own->ignore_case()->ignore_underscore();
    defined.push_back({own, command.define(*own), command.tells_variables, command.examples});
    if (names_command && has_name(command)) use_listed_names(*own, arguments);
  }
  const Exit exit = parse_and_run(app, defined, arguments, context);
  // Whoever reads the data must learn that some of it is missing (a full disk, a closed pipe). A status that a command
  // passes on from others says so by itself, or more.
  if (!context.out.flush() && exit <= Exit::misused) {
    context.error << context.program << ": the output could not be written in full\n";
    return Exit::not_done;
  }
  return exit;
}

}  // namespace tutti::cli
