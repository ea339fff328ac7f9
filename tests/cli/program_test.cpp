// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <array>
#include <cerrno>
#include <memory>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "calling.hpp"
#include "cli/commands.hpp"

namespace tutti::cli {
namespace {

// A command that says what it was given, and one that finds something wrong.
Run define_echo(CLI::App& app) {
  struct Options {
    int count = 1;
    std::vector<std::string> words;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("-n,--count", options->count, "How often");
  app.add_option("words", options->words, "What");
  return [options](const Context& context) {
    context.out << options->count << ":";
    for (const std::string& word : options->words) context.out << " " << word;
    context.out << "\n";
    return Exit::done;
  };
}

Run define_fail(CLI::App&) {
  return [](const Context& context) {
    context.error << "found it\n";
    return Exit::found_wrong;
  };
}

Outcome run(const std::vector<std::string>& arguments) {
  const std::array commands{
      Command{"echo-back", "Say it again", "tutti echo-back -n 2 word", define_echo},
      Command{"fail", "Find something wrong", "tutti fail", define_fail},
  };
  return call(commands, arguments);
}

TEST(Program, RunsTheCommandWithItsOptions) {
  const Outcome outcome = run({"echo-back", "-n", "3", "a", "b"});
  EXPECT_EQ(outcome.exit, Exit::done);
  EXPECT_EQ(outcome.out, "3: a b\n");
  EXPECT_EQ(outcome.error, "");
}

TEST(Program, WhatFollowsTwoHyphensIsTheCommands) {
  EXPECT_EQ(run({"echo-back", "-n", "3", "--", "fail", "-x", "--help"}).out, "3: fail -x --help\n");
  EXPECT_EQ(run({"echo-back", "fail"}).out, "1: fail\n");
}

TEST(Program, ExitStatusIsTheCommands) {
  const Outcome outcome = run({"fail"});
  EXPECT_EQ(outcome.exit, Exit::found_wrong);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.error, "found it\n");
}

TEST(Program, HelpListsCommandsAndEachHasItsExample) {
  const Outcome all = run({"--help"});
  EXPECT_EQ(all.exit, Exit::done);
  EXPECT_NE(all.out.find("echo-back"), std::string::npos);
  EXPECT_NE(all.out.find("Find something wrong"), std::string::npos);
  const Outcome one = run({"echo-back", "--help"});
  EXPECT_EQ(one.exit, Exit::done);
  EXPECT_NE(one.out.find("Examples:\n  tutti echo-back -n 2 word\n"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("Usage: tutti echo-back"), std::string::npos) << one.out;
}

TEST(Program, HelpIsACommandToo) {
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "echo-back"}).out, run({"echo-back", "--help"}).out);
  EXPECT_EQ(run({"help", "echo-back"}).exit, Exit::done);
  const Outcome unknown = run({"help", "ehco-back"});
  EXPECT_EQ(unknown.exit, Exit::misused);
  EXPECT_NE(unknown.error.find("'ehco-back' is not a command"), std::string::npos) << unknown.error;
}

TEST(Program, OptionsAreUnderstoodByTheirOtherNames) {
  // Its number of ranks, and the remaining arguments.
  const auto define = [](const char* positional) {
    return [positional](CLI::App& app) -> cli::Run {
      struct Options {
        std::string num_ranks;
        std::vector<std::string> rest;
      };
      const auto options = std::make_shared<Options>();
      app.add_option("-n,--num-ranks", options->num_ranks, "How many");
      app.add_option(positional, options->rest, "What");
      return [options](const Context& context) {
        context.out << options->num_ranks;
        return Exit::done;
      };
    };
  };
  const std::array commands{Command{"sweep", "Count", "tutti sweep", define("rest")},
                            Command{"start", "Start", "tutti start", define("program")}};
  for (const char* name : {"-n", "--num-ranks", "--ranks"}) EXPECT_EQ(call(commands, {"sweep", name, "4"}).out, "4");
  EXPECT_EQ(call(commands, {"sweep", "--ranks=4"}).out, "4");
  EXPECT_EQ(call(commands, {"sweep", "-n", "4", "--", "--ranks", "3"}).out, "4");
  EXPECT_EQ(call(commands, {"sweep", "--peers", "4"}).exit, Exit::misused);  // it has neither
  EXPECT_EQ(call(commands, {"sweep", "--help"}).out.find("--ranks"), std::string::npos);
  // A program that is started may have an option of any name.
  const Outcome started = call(commands, {"start", "word", "--ranks", "3"});
  EXPECT_NE(started.error.find("'--ranks' is not an option"), std::string::npos) << started.error;
}

TEST(Program, VersionIsPrinted) {
  EXPECT_EQ(run({"--version"}).out.rfind("tutti ", 0), 0U);
  EXPECT_EQ(run({"--version"}).exit, Exit::done);
}

TEST(Program, NoCommandIsMisuseAndShowsHelpOnStandardError) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.exit, Exit::misused);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.error.find("echo-back"), std::string::npos);
}

TEST(Program, AnUnknownCommandNamesTheNearest) {
  const Outcome outcome = run({"ehco-back"});
  EXPECT_EQ(outcome.exit, Exit::misused);
  EXPECT_EQ(outcome.error,
            "tutti: 'ehco-back' is not a command; the nearest is 'echo-back'\n'tutti --help' tells more\n");
}

TEST(Program, CommandNamesTakeEitherCase) { EXPECT_EQ(run({"FAIL"}).exit, Exit::found_wrong); }

TEST(Program, AnUnknownOptionNamesTheNearest) {
  const Outcome outcome = run({"echo-back", "--cuont=3"});
  EXPECT_EQ(outcome.exit, Exit::misused);
  EXPECT_NE(outcome.error.find("tutti echo-back: '--cuont' is not an option; the nearest is '--count'"),
            std::string::npos)
      << outcome.error;
  EXPECT_EQ(run({"--nonsense"}).exit, Exit::misused);
  EXPECT_NE(run({"fail", "extra"}).error.find("'extra' was not expected here"), std::string::npos);
}

TEST(Program, AWrongOptionValueIsMisuse) {
  const Outcome outcome = run({"echo-back", "-n", "many"});
  EXPECT_EQ(outcome.exit, Exit::misused);
  EXPECT_NE(outcome.error.find("many"), std::string::npos) << outcome.error;
  EXPECT_EQ(outcome.out, "");
}

TEST(Program, MisuseNamesTheOptionItsValueAndWhatIsRight) {
  const auto define = [](CLI::App& app) -> cli::Run {
    app.add_option("what", "What is read")->type_name("WHAT")->required();
    CLI::Option* type = app.add_option("--type", "The type")->type_name("TYPE");
    const auto fast = std::make_shared<bool>();
    app.add_flag("--fast", *fast)->excludes(type);
    app.add_flag("--json")->needs(type);
    app.add_option("--count")->type_name("N")->required();
    return [fast](const Context&) { return Exit::done; };
  };
  const std::array commands{Command{"read", "Read", "tutti read", define}};
  const auto words = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "read");
    const std::string error = call(commands, arguments).error;
    return error.substr(0, error.find('\n'));
  };
  EXPECT_EQ(words({"--count", "1"}), "tutti read: WHAT must be given: What is read");
  EXPECT_EQ(words({"x"}), "tutti read: --count N must be given");
  EXPECT_EQ(words({"x", "--count", "1", "--type"}), "tutti read: --type has no value; write --type TYPE");
  EXPECT_EQ(words({"x", "--count", "1", "--type", "f16", "--type", "f32"}),
            "tutti read: --type is given 2 times, with 'f16' and 'f32'; give it once");
  EXPECT_EQ(words({"x", "--count", "1", "--fast=x"}), "tutti read: --fast takes no value, and has 'x'");
  EXPECT_EQ(words({"x", "--count", "1", "--fast", "--type", "f16"}),
            "tutti read: --type and --fast exclude each other; give one of them");
  EXPECT_EQ(words({"x", "--count", "1", "--json"}),
            "tutti read: --json is only for use with --type; give both or neither");
  EXPECT_EQ(words({"x", "y", "--count", "1"}), "tutti read: 'y' was not expected here");
  EXPECT_NE(call(commands, {"--json", "read", "x", "--count", "1"}).error.find("'--json' is before the command"),
            std::string::npos);
}

TEST(Program, OutputThatCannotBeWrittenIsSaid) {
  const std::array commands{Command{"echo", "Say", "tutti echo", define_echo}};
  std::ostringstream error;
  std::ostream closed(nullptr);
  const Environment environment;
  EXPECT_EQ(run_program(commands, {"echo"}, {environment, closed, error}), Exit::not_done);
  EXPECT_NE(error.str().find("could not be written"), std::string::npos);
}

TEST(Program, ASystemErrorIsNotMisuse) {
  std::ostringstream error;
  const Environment environment;
  const Context context{environment, error, error};
  EXPECT_EQ(failed(context, "echo", Status::from_errno("cannot read x", ENOENT)), Exit::not_done);
  EXPECT_EQ(error.str(), "tutti echo: cannot read x: No such file or directory\n");
  EXPECT_EQ(failed(context, "echo", wrong_argument("x is y")), Exit::misused);
  EXPECT_NE(error.str().find("tutti echo: x is y\n'tutti echo --help' tells more\n"), std::string::npos);
  EXPECT_EQ(exit_of({Code::unsupported, "no such peer here"}), Exit::misused);
  EXPECT_EQ(exit_of({Code::internal, "a bug"}), Exit::not_done);
}

TEST(Program, EveryCommandHasSummaryAndExamples) {
  for (const Command& command : {variables_command()}) {
    EXPECT_FALSE(command.name.empty());
    EXPECT_FALSE(command.summary.empty() || command.summary.ends_with('.'));
    EXPECT_NE(command.examples.find("tutti " + std::string(command.name)), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti::cli
