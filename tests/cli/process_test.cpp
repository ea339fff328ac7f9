// SPDX-License-Identifier: Apache-2.0
// Runs the built program with an environment of its own and looks at what comes out of it.
#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/temporary_folder.hpp"

namespace tutti {
namespace {

struct Outcome {
  int exit = -1;
  std::string out;
  std::string error;
};

class TuttiProcess : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  // The standard output goes to a file, by default one that is read back.
  Outcome run(const Texts& arguments, Texts environment = {}, const std::string& out = {}) {
    environment.push_back("XDG_CONFIG_HOME=" + folder_.path());
    environment.push_back("XDG_DATA_HOME=" + folder_.path());
    const std::string out_path = out.empty() ? folder_.file("out") : out;
    const std::string error_path = folder_.file("error");
    Texts command{TUTTI_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv = pointers(command);
    std::vector<char*> envp = pointers(environment);
    const pid_t child = ::fork();
    if (child == 0) {
      if (limit_) ::setrlimit(limit_->first, &limit_->second);
      const int out_file = ::open(out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int error_file = ::open(error_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (::dup2(out_file, STDOUT_FILENO) >= 0 && ::dup2(error_file, STDERR_FILENO) >= 0) {
        ::execve(TUTTI_PROGRAM, argv.data(), envp.data());
      }
      ::_exit(127);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.empty() ? folder_.read("out") : "",
            folder_.read("error")};
  }

  static std::vector<char*> pointers(Texts& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }

  static nlohmann::json row(const Outcome& outcome, const std::string& name) {
    for (const nlohmann::json& row : nlohmann::json::parse(outcome.out)) {
      if (row["name"] == name) return row;
    }
    return {};
  }

  test::TemporaryFolder folder_;
  std::optional<std::pair<decltype(RLIMIT_NOFILE), rlimit>> limit_;  // of the program's process
};

TEST_F(TuttiProcess, VersionAndHelp) {
  const Outcome version = run({"--version"});
  EXPECT_EQ(version.exit, 0);
  EXPECT_TRUE(version.out.starts_with("tutti ")) << version.out;
  const Outcome help = run({"variables", "--help"});
  EXPECT_EQ(help.exit, 0);
  EXPECT_NE(help.out.find("Examples:\n  tutti variables\n"), std::string::npos) << help.out;
  EXPECT_EQ(help.error, "");
}

TEST_F(TuttiProcess, ShortAndOtherOptionNamesGiveTheSameSweep) {
  const Outcome axes = run({"run", "--bench", "all_reduce", "--peer", "null,tutti", "-a", "num_ranks=1,2", "-a",
                            "bytes=8,64", "--timeout", "1s", "--start-timeout", "2s", "--dry-run"});
  EXPECT_EQ(axes.exit, 0) << axes.error;
  EXPECT_NE(axes.out.find("bytes=64"), std::string::npos) << axes.out;
  EXPECT_EQ(run({"run", "--collective", "all_reduce", "--peers", "null,tutti", "-n", "1,2", "--bytes", "8,64",
                 "--limit", "1s", "--start-limit=2s", "--dry-run"})
                .out,
            axes.out);
  EXPECT_EQ(run({"run", "--peer", "null,tutti", "-a", "ranks=1,2", "-a", "bytes=8,64", "--dry-run"}).out, axes.out);
  folder_.write("now.toml", "peer = 'null,tutti'\naxes = ['num_ranks=1,2', 'bytes=8,64']\ntimeout = '1s'\n");
  folder_.write("before.toml",
                "peers = 'null,tutti'\naxes = ['num_ranks=1,2', 'bytes=8,64']\nlimit = '1s'\nstart_limit = 2\n");
  for (const char* file : {"now.toml", "before.toml"})
    EXPECT_EQ(run({"run", "--sweep", folder_.file(file), "--dry-run"}).out, axes.out) << file;
  EXPECT_NE(run({"run", "--limit", "soon", "--dry-run"}).error.find("--timeout is 'soon'"), std::string::npos);
}

TEST_F(TuttiProcess, MisuseIsTwoAndOnStandardError) {
  for (const Texts& arguments : {Texts{}, Texts{"varables"}, Texts{"variables", "--format", "xml"},
                                 Texts{"variables", "--json", "--format", "csv"}, Texts{"variables", "TUTTI_DEBUGG"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.error, "");
  }
  EXPECT_NE(run({"varables"}).error.find("the nearest is 'variables'"), std::string::npos);
  EXPECT_NE(run({"variables", "--format", "xml"}).error.find("it takes table, csv, json or md"), std::string::npos);
  EXPECT_NE(run({"variables", "TUTTI_DEBUGG"}).error.find("the nearest is TUTTI_DEBUG"), std::string::npos);
}

TEST_F(TuttiProcess, VariablesListsWhatItShould) {
  folder_.write("tutti/tutti.conf", "# mine\nTUTTI_STAGING_DEPTH = 8\n");
  const Outcome outcome = run({"variables", "--json"}, {"NCCL_DEBUG=INFO", "TUTTI_STREAM_MIN=-2"});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.error, "");
  const nlohmann::json debug = row(outcome, "TUTTI_DEBUG");
  EXPECT_EQ(debug["value"], "info");
  EXPECT_EQ(debug["from"], "environment as NCCL_DEBUG");
  EXPECT_EQ(debug["default"], "warn");
  EXPECT_EQ(debug["type"], "choice");
  EXPECT_EQ(debug["allowed"], "none, version, warn, info, trace");
  EXPECT_EQ(debug["aliases"], "NCCL_DEBUG");
  EXPECT_FALSE(debug["meaning"].get<std::string>().empty());
  const nlohmann::json depth = row(outcome, "TUTTI_STAGING_DEPTH");
  EXPECT_EQ(depth["value"], "8");
  EXPECT_EQ(depth["from"], folder_.file("tutti/tutti.conf") + ":2");
  EXPECT_EQ(depth["allowed"], "2 to 64");
  EXPECT_TRUE(depth["aliases"].is_null());
  EXPECT_EQ(row(outcome, "TUTTI_STREAM_MIN")["value"], "auto");
  EXPECT_TRUE(row(outcome, "TUTTI_RANK")["value"].is_null());
}

TEST_F(TuttiProcess, VariablesListsBenchmarkVariables) {
  const Outcome outcome = run({"variables", "--json"},
                              {"TUTTI_GLOO_ALLREDUCE_ALGORITHM=ring", "BENCH_WORKER=hunter2", "TUTTI_NULL_WORK=1us"});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.error, "");
  const nlohmann::json gloo = row(outcome, "TUTTI_GLOO_ALLREDUCE_ALGORITHM");
  EXPECT_EQ(gloo["value"], "ring");
  EXPECT_EQ(gloo["from"], "environment");
  EXPECT_EQ(gloo["allowed"], "unspecified, ring, bcube");
  EXPECT_EQ(gloo["group"], "benchmarks");
  EXPECT_EQ(row(outcome, "BENCH_MEMORY")["value"], "ordinary");
  EXPECT_EQ(row(outcome, "BENCH_WORKER")["value"], "(hidden)");
  EXPECT_EQ(run({"variables", "bench-memory"}).out.find("variable  BENCH_MEMORY\n"), 0U);
}

// No variable that is listed as forcing an algorithm is an unknown name.
TEST_F(TuttiProcess, EveryVariableThatForcesAnAlgorithmIsListed) {
  const nlohmann::json listed = nlohmann::json::parse(run({"variables", "--json"}).out);
  const auto is_listed = [&](const std::string& name) {
    return std::any_of(listed.begin(), listed.end(), [&](const nlohmann::json& row) { return row["name"] == name; });
  };
  std::size_t found = 0;
  for (const nlohmann::json& row : nlohmann::json::parse(run({"list", "algorithms", "--json"}).out)) {
    std::istringstream settings(row["settings"].is_null() ? "" : row["settings"].get<std::string>());
    for (std::string setting; settings >> setting;) {
      if (!setting.starts_with("TUTTI_")) continue;
      EXPECT_TRUE(is_listed(setting.substr(0, setting.find('=')))) << setting;
      ++found;
    }
  }
  EXPECT_GT(found, 50U);
}

TEST_F(TuttiProcess, EveryCommandWarnsOfUnknownNames) {
  for (const Texts& arguments :
       {Texts{"prove", "--algorithm", "one_shot", "--ranks", "2"}, Texts{"list", "benches"}, Texts{"algorithms"},
        Texts{"launch", "-n", "1", "--", "true"}, Texts{"fabric", "ring_1d:4"},
        Texts{"run", "--peer", "simulate:ring_1d:4", "--dry-run", "--no-store"}}) {
    const Outcome outcome = run(arguments, {"TUTTI_TIMEOT=3"});
    EXPECT_EQ(outcome.exit, 0) << arguments.front() << outcome.error;
    EXPECT_EQ(
        outcome.error.find("tutti: warning: TUTTI_TIMEOT (environment) is not a variable of Tutti; the nearest is "
                           "TUTTI_TIMEOUT\n"),
        0U)
        << arguments.front() << outcome.error;
  }
  EXPECT_EQ(run({"list", "--help"}, {"TUTTI_TIMEOT=3"}).error, "");
}

TEST_F(TuttiProcess, AWrongValueIsAnErrorOfEveryCommand) {
  for (const Texts& arguments : {Texts{"prove", "--algorithm", "one_shot", "--ranks", "2"}, Texts{"list", "benches"},
                                 Texts{"launch", "-n", "1", "--", "true"}, Texts{"demo"}}) {
    const Outcome outcome = run(arguments, {"TUTTI_DEBUG=infoo"});
    EXPECT_EQ(outcome.exit, 2) << arguments.front();
    EXPECT_EQ(outcome.out, "") << arguments.front();
    EXPECT_EQ(
        outcome.error.find("tutti: TUTTI_DEBUG (environment): 'infoo' is not one of the choices; allowed: none, "), 0U)
        << outcome.error;
  }
}

TEST_F(TuttiProcess, AVariableOfAnotherToolIsAnErrorOfBenchesOnly) {
  EXPECT_EQ(run({"list", "types"}, {"BENCH_MEMORY=16G"}).exit, 0);
  EXPECT_EQ(run({"run", "--dry-run"}, {"BENCH_MEMORY=16G"}).exit, 2);
}

TEST_F(TuttiProcess, TheDemoWarnsOnce) {
  const Outcome outcome = run({"demo", "--most", "8"}, {"TUTTI_TIMEOT=3"});
  const std::size_t first = outcome.error.find("TUTTI_TIMEOT");
  ASSERT_NE(first, std::string::npos) << outcome.error;
  EXPECT_EQ(outcome.error.find("TUTTI_TIMEOT", first + 1), std::string::npos) << outcome.error;
}

TEST_F(TuttiProcess, VariablesToSetAreCheckedBeforeAnythingStarts) {
  const Outcome launched = run({"launch", "-n", "1", "--env", "TUTTI_DEBUGG=info", "--", "true"});
  EXPECT_EQ(launched.exit, 0);
  EXPECT_EQ(launched.error,
            "tutti launch: warning: TUTTI_DEBUGG (--env) is not a variable of Tutti; the nearest is "
            "TUTTI_DEBUG\n");
  const Outcome refused = run({"launch", "-n", "1", "--env", "TUTTI_DEBUG=infoo", "--", "echo", "started"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_EQ(refused.out, "");
  for (const char* command : {"run", "compare"}) {
    const Outcome swept = run({command, "--peer", "tutti", "--env", "TUTTI_DEBUGG=info,unset", "--dry-run"});
    EXPECT_EQ(swept.exit, 0) << swept.error;
    EXPECT_EQ(
        swept.error.find("warning: TUTTI_DEBUGG (--env) is not a variable of Tutti; the nearest is TUTTI_DEBUG\n"), 0U)
        << swept.error;
  }
}

TEST_F(TuttiProcess, TheCommandLineOverridesASweepFile) {
  const std::string file = folder_.write("mine.toml", "peers = \"null\"\nenv = [\"A=1,2\"]\n");
  const Outcome replaced = run({"run", "--sweep", file, "--env", "A=3", "--dry-run"});
  EXPECT_EQ(replaced.exit, 0) << replaced.error;
  EXPECT_NE(replaced.out.find("A=3"), std::string::npos) << replaced.out;
  EXPECT_EQ(replaced.out.find("A=1"), std::string::npos) << replaced.out;
  const std::string twice = folder_.write("twice.toml", "peers = \"null\"\nenv = [\"A=1,2\", \"A=3\"]\n");
  const Outcome refused = run({"run", "--sweep", twice, "--dry-run"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_NE(refused.error.find("A is given twice"), std::string::npos) << refused.error;
}

TEST_F(TuttiProcess, WrongVariablesAreListedAndExitIsOne) {
  const Outcome outcome =
      run({"variables", "--json"}, {"TUTTI_STAGING_DEPTH=abc", "TUTTI_STAGING_SLOT=4 parsecs", "TUTTI_DEGUB=info"});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_TRUE(row(outcome, "TUTTI_STAGING_DEPTH")["value"].is_null());
  EXPECT_EQ(row(outcome, "TUTTI_STAGING_DEPTH")["from"], "environment (wrong)");
  EXPECT_EQ(row(outcome, "TUTTI_YIELD")["value"], "auto");
  EXPECT_NE(outcome.error.find("error: TUTTI_STAGING_DEPTH (environment): 'abc' is not a whole number"),
            std::string::npos)
      << outcome.error;
  EXPECT_NE(outcome.error.find("error: TUTTI_STAGING_SLOT (environment): '4 parsecs'"), std::string::npos);
  EXPECT_NE(outcome.error.find("warning: TUTTI_DEGUB"), std::string::npos);
}

TEST_F(TuttiProcess, AWrongFileIsNamed) {
  folder_.write("tutti/tutti.conf", "nonsense\n");
  const Outcome outcome = run({"variables"});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(outcome.error,
            "error: " + folder_.file("tutti/tutti.conf") + ":1: found 'nonsense', expected NAME = value\n");
  EXPECT_NE(outcome.out.find("TUTTI_DEBUG"), std::string::npos);
}

TEST_F(TuttiProcess, ValuesOutOfRangeAreSaidWithWhatIsAllowed) {
  const Outcome outcome = run({"variables"}, {"TUTTI_STAGING_DEPTH=65", "TUTTI_SPIN=2h", "TUTTI_YIELD=4 parsecs"});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(outcome.error,
            "error: TUTTI_STAGING_DEPTH (environment): '65' is out of range; allowed: 2 to 64\n"
            "error: TUTTI_SPIN (environment): '2h' is out of range; allowed: auto or -2, 0s to 1m\n"
            "error: TUTTI_YIELD (environment): '4 parsecs' is not a duration: 'parsecs' is not a unit; write a number "
            "and ns, us, ms, s, m or h, such as 250ms (no unit: seconds); allowed: auto or -2, 0s to 1m\n");
}

// A folder, because root may read every file.
TEST_F(TuttiProcess, AFileThatCannotBeReadIsSaid) {
  folder_.write("tutti/tutti.conf/inside", "");
  const Outcome outcome = run({"variables"});
  EXPECT_EQ(outcome.exit, 0);  // nobody has named it
  EXPECT_EQ(outcome.error,
            "warning: cannot read '" + folder_.file("tutti/tutti.conf") + "': Is a directory; the file is ignored\n");
  const Outcome missing = run({"variables"}, {"TUTTI_CONF_FILE=/no/such/file"});
  EXPECT_EQ(missing.exit, 1);
  EXPECT_NE(missing.error.find("there is no file '/no/such/file'"), std::string::npos) << missing.error;
}

TEST_F(TuttiProcess, WarningsAloneAreNoFailure) {
  const Outcome outcome = run({"variables", "TUTTI_DEBUG"}, {"TUTTI_DEBUG=info", "NCCL_DEBUG=trace"});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.error,
            "warning: TUTTI_DEBUG is 'info' (environment) and NCCL_DEBUG is 'trace' (environment); the first counts\n");
}

TEST_F(TuttiProcess, TheSecretIsNeverShown) {
  for (const char* format : {"table", "csv", "json", "md"}) {
    const Outcome outcome = run({"variables", "--format", format}, {"TUTTI_UNIQUE_ID=hunter2"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ((outcome.out + outcome.error).find("hunter2"), std::string::npos) << format;
    EXPECT_NE(outcome.out.find("(hidden)"), std::string::npos) << format;
  }
}

TEST_F(TuttiProcess, OneVariableAtLength) {
  const Outcome outcome = run({"variables", "tutti-yield"}, {"TUTTI_YIELD=250us"});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.out,
            "variable  TUTTI_YIELD\n"
            "value     250us\n"
            "from      environment\n"
            "default   auto\n"
            "type      duration\n"
            "allowed   auto or -2, 0s to 1m\n"
            "meaning   How long a waiting rank yields before it sleeps.\n"
            "aliases   -\n"
            "group     waiting\n");
  EXPECT_EQ(nlohmann::json::parse(run({"variables", "NCCL_DEBUG", "--json"}).out).size(), 1U);
}

TEST_F(TuttiProcess, OutputGoesToAFile) {
  const std::string expected = run({"variables", "--format", "md"}).out;
  const Outcome outcome = run({"variables", "--format", "md", "-o", folder_.file("variables.md")});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(expected.starts_with("| name | value |")) << expected;
  EXPECT_EQ(folder_.read("variables.md"), expected);
}

TEST_F(TuttiProcess, OutputThatCannotBeWrittenIsSaid) {
  const Outcome missing = run({"variables", "-o", folder_.file("none/variables.md")});
  EXPECT_EQ(missing.exit, 1);
  EXPECT_NE(missing.error.find("No such file or directory"), std::string::npos) << missing.error;
  const Outcome full = run({"variables", "-o", "/dev/full"});
  EXPECT_EQ(full.exit, 1);
  EXPECT_NE(full.error.find("No space left"), std::string::npos) << full.error;
  EXPECT_EQ(run({"variables"}, {}, "/dev/full").exit, 1);
}

// 2 is for calls that the caller must change.
TEST_F(TuttiProcess, AMissingFileExitsWith1) {
  const std::string missing = folder_.file("missing");
  for (const Texts& arguments :
       {Texts{"prove", "--file", missing}, Texts{"schedule", "--file", missing}, Texts{"import", missing},
        Texts{"fabric", missing + ".toml"}, Texts{"simulate", "--against", missing},
        Texts{"run", "--sweep", missing, "--dry-run"}, Texts{"list", "runs", "--store", missing}, Texts{"show"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit, 1) << arguments[0] << ": " << outcome.error;
    EXPECT_NE(outcome.error.find("o such file"), std::string::npos) << outcome.error;
    EXPECT_EQ(outcome.error.find("--help"), std::string::npos) << outcome.error;
  }
  folder_.write("wrong.sched", "nonsense");
  EXPECT_EQ(run({"prove", "--file", folder_.file("wrong.sched"), "--file", missing}).exit, 2);
}

TEST_F(TuttiProcess, TheFirstListOfRunsIsEmpty) {
  const Outcome outcome = run({"list", "runs", "--json"});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.error, "no runs yet; 'tutti run' keeps the first\n");
  EXPECT_EQ(nlohmann::json::parse(outcome.out), nlohmann::json::array());
}

TEST_F(TuttiProcess, AFileSizeLimitIsNamed) {
  constexpr rlim_t kBytes = 4096;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = kBytes;
  limit_ = {RLIMIT_FSIZE, limit};
  for (const Texts& arguments :
       {Texts{"variables", "--json", "-o", folder_.file("variables.json")},
        Texts{"run", "--peer", "null", "--bytes", "8"}, Texts{"run", "--peer", "null", "--bytes", "8", "--no-store"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit, 1) << outcome.error;
    std::string said = outcome.out + outcome.error;
    // A table breaks lines within words.
    std::erase_if(said, [](char c) { return c == ' ' || c == '\n'; });
    EXPECT_NE(said.find("thisprocessmaywritefilesofupto4KiB:ulimit-f;"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace tutti
