// SPDX-License-Identifier: Apache-2.0
// `tutti launch --hosts`, with scripts in the places of agents and programs: all hosts are this one.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../in_folder.hpp"
#include "base/system/loopback.hpp"
#include "base/system/process_state.hpp"
#include "base/unique_id.hpp"

namespace tutti::test {

const char* const kTuttiProgram = TUTTI_PROGRAM;

namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

using Lines = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool eventually(const std::function<bool()>& is_so) {
  const auto until = steady_clock::now() + seconds(10);
  while (!is_so()) {
    if (steady_clock::now() >= until) return false;
    poll(nullptr, 0, 5);
  }
  return true;
}

class LaunchHosts : public InFolder {
 protected:
  void SetUp() override {
    if (!is_loopback_up()) GTEST_SKIP() << "the loopback interface is down";
    write_program("agent", "echo \"$*\" >>commands; shift; exec \"$@\"");
  }

  std::string write_program(const std::string& name, const std::string& script) {
    std::string path = folder_.write(name, "#!/bin/sh\n" + script + "\n");
    ::chmod(path.c_str(), 0700);
    return path;
  }
  [[nodiscard]] bool exists(const std::string& name) const { return std::filesystem::exists(folder_.file(name)); }

  static std::string options(const std::string& hosts, const std::string& more) {
    return fmt::format("launch --hosts {} --agent ./agent --address 127.0.0.1 --bind none {} -- ./program", hosts,
                       more);
  }
  // What `script` does as each rank.
  Ended on(const std::string& hosts, const std::string& script, const std::string& more = "--tag",
           const std::string& variables = "") {
    write_program("program", script);
    return tutti(options(hosts, more), variables);
  }
  // The same, but it goes on beside the test; it has a group of its own.
  pid_t start(const std::string& hosts, const std::string& script, const std::string& more = "--tag") {
    write_program("program", script);
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::setpgid(0, 0);
    // Who runs the tests in the background may ignore it, and so would all below.
    ::signal(SIGINT, SIG_DFL);
    const std::string line = fmt::format("cd '{}' && exec '{}' {} >out 2>error </dev/null", folder_.path(),
                                         kTuttiProgram, options(hosts, more));
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  static int wait_for(pid_t process) {
    int status = 0;
    ::waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // The process that has written its number into this file.
  pid_t process_in(const std::string& name) {
    EXPECT_TRUE(eventually([&] { return exists(name) && folder_.read(name).ends_with('\n'); })) << name;
    return std::stoi(folder_.read(name));
  }
  static constexpr const char* kRunForEver = "echo $$ >pid.$TUTTI_RANK; exec sleep 1000";
  void expect_all_end(int num_ranks) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      const pid_t process = process_in(fmt::format("pid.{}", rank));
      EXPECT_TRUE(eventually([&] { return is_ended(process); })) << "rank " << rank;
    }
  }
};

TEST_F(LaunchHosts, NumbersRanksOverHosts) {
  const Ended ended = on("a:2,b:1,a:1", "echo $TUTTI_RANK of $TUTTI_NUM_RANKS ${#TUTTI_UNIQUE_ID}");
  EXPECT_EQ(ended.exit, 0) << ended.error;
  EXPECT_EQ(sorted_lines(ended.out), (Lines{"[0] 0 of 4 128", "[1] 1 of 4 128", "[2] 2 of 4 128", "[3] 3 of 4 128"}));
  EXPECT_EQ(ended.error, "");
  const Lines commands = sorted_lines(folder_.read("commands"));
  const std::string remote = fmt::format(" {} launch --remote", std::filesystem::canonical(kTuttiProgram).string());
  EXPECT_EQ(commands, (Lines{"a" + remote, "a" + remote, "b" + remote}));
}

TEST_F(LaunchHosts, SpreadsNRanksAndReadsFiles) {
  EXPECT_EQ(sorted_lines(on("a,b", "echo $TUTTI_NUM_RANKS", "--tag -n 3").out), (Lines{"[0] 3", "[1] 3", "[2] 3"}));
  folder_.write("hosts", "# two\na slots=2\nb:1\n");
  EXPECT_EQ(sorted_lines(on("@hosts", "echo $TUTTI_NUM_RANKS").out), (Lines{"[0] 3", "[1] 3", "[2] 3"}));
}

TEST_F(LaunchHosts, RanksMeetAtTheGivenAddress) {
  const Ended ended = on("a,b", "echo $TUTTI_UNIQUE_ID");
  const Lines lines = sorted_lines(ended.out);
  ASSERT_EQ(lines.size(), 2U) << ended.error;
  EXPECT_EQ(lines[0].substr(4), lines[1].substr(4));
  const Result<UniqueId> id = UniqueId::from_text(lines[0].substr(4));
  ASSERT_TRUE(id.ok());
  EXPECT_TRUE(to_text(id->address()).starts_with("127.0.0.1:")) << to_text(id->address());
}

// The agent stands for a login on another host, with an environment of that host.
TEST_F(LaunchHosts, GivesVariablesAndTheFolderToAllHosts) {
  write_program("agent", "shift; cd /; exec env -i PATH=\"$PATH\" THERE=there \"$@\"");
  const Ended ended =
      on("a,b", "echo $TUTTI_SPIN $TUTTI_YIELD \"$A\" $THERE${HERE-}; test \"$PWD\" -ef . && test -e program",
         "--tag --env TUTTI_SPIN=1us --env 'A=x = \"y'", "HERE=here TUTTI_YIELD=2us");
  EXPECT_EQ(ended.exit, 0) << ended.error;
  EXPECT_EQ(sorted_lines(ended.out), (Lines{"[0] 1us 2us x = \"y there", "[1] 1us 2us x = \"y there"}));
}

TEST_F(LaunchHosts, HandsOnVariablesByNameAlone) {
  write_program("agent", "shift; cd /; exec env -i PATH=\"$PATH\" \"$@\"");
  const Ended ended = on("a,b", "echo $SECRET", "--tag --env SECRET", "SECRET=word");
  EXPECT_EQ(sorted_lines(ended.out), (Lines{"[0] word", "[1] word"})) << ended.error;
  const Ended unset = on("a,b", "true", "--env NOT_THERE");
  EXPECT_NE(unset.exit, 0);
  EXPECT_NE(unset.error.find("--env is 'NOT_THERE', which is not set here"), std::string::npos) << unset.error;
}

TEST_F(LaunchHosts, BindsRanksToCoresOfTheirHost) {
  write_program("program", "echo $TUTTI_LOCAL_CORE");
  const Ended ended = tutti("launch --hosts a:2,b:1,a:1 --agent ./agent --address 127.0.0.1 --tag -- ./program");
  const Lines lines = sorted_lines(ended.out);
  ASSERT_EQ(lines.size(), 4U) << ended.error;
  EXPECT_EQ(lines[0].substr(4), lines[2].substr(4));  // each the first on its host
}

TEST_F(LaunchHosts, PassesBothStreamsOn) {
  const Ended ended = on("a,b", "echo line; echo >&2 wrong; printf rest");
  EXPECT_EQ(sorted_lines(ended.out), (Lines{"[0] line", "[0] rest", "[1] line", "[1] rest"}));
  EXPECT_EQ(sorted_lines(ended.error), (Lines{"[0] wrong", "[1] wrong"}));
  EXPECT_EQ(on("a", "printf 'a\\tb\\001'; head -c 1000000 /dev/zero | tr '\\0' x", "").out,
            "a\tb\001" + std::string(1000000, 'x'));
}

TEST_F(LaunchHosts, GivesInputToRank0Only) {
  write_program("program", "echo \"<$(wc -c)>\"");
  const Ended ended =
      shell(fmt::format("head -c 1000000 /dev/zero | '{}' {}", kTuttiProgram, options("a,b:2", "--tag")));
  EXPECT_EQ(sorted_lines(ended.out), (Lines{"[0] <1000000>", "[1] <0>", "[2] <0>"})) << ended.error;
  // A rank that reads nothing holds nobody up.
  write_program("program", "exec true");
  EXPECT_EQ(shell(fmt::format("yes | '{}' {}", kTuttiProgram, options("a,b", ""))).exit, 0);
}

TEST_F(LaunchHosts, NamesTheRankAndTheHostThatFail) {
  const Ended code =
      on("a:2,b", "if [ $TUTTI_RANK = 2 ]; then echo $$ >failed; exit 7; fi; exec sleep 1000", "--grace 100ms");
  EXPECT_EQ(code.exit, 7);
  const std::string process = folder_.read("failed").substr(0, folder_.read("failed").find('\n'));
  EXPECT_TRUE(
      contains(code.error, fmt::format("tutti launch: rank 2 (process {} on b) ended with exit code 7\n", process)))
      << code.error;
  EXPECT_TRUE(contains(code.error, "ranks 0 and 1 still ran 100ms after that; sent SIGTERM")) << code.error;
  const Ended killed = on("a,b", "if [ $TUTTI_RANK = 0 ]; then kill -KILL $$; fi; exec sleep 1000", "--grace 100ms");
  EXPECT_EQ(killed.exit, 128 + SIGKILL);
  EXPECT_TRUE(contains(killed.error, " on a) was killed by SIGKILL")) << killed.error;
}

TEST_F(LaunchHosts, KillsRanksThatDoNotHeedAndWhatTheyStarted) {
  const Ended ended =
      on("a,b",
         "trap '' TERM; if [ $TUTTI_RANK = 1 ]; then until [ -e child ]; do sleep 0.01; done; exit 3; fi\n"
         "sleep 1000 & echo $! >child; while :; do sleep 0.01; done",
         "--grace 100ms");
  EXPECT_EQ(ended.exit, 3);
  EXPECT_TRUE(contains(ended.error, "rank 0 did not heed it; killed")) << ended.error;
  const pid_t child = process_in("child");
  EXPECT_TRUE(eventually([&] { return is_ended(child); }));
}

TEST_F(LaunchHosts, EndsAllAtTheTimeout) {
  const Ended ended = on("a,b", "exec sleep 1000", "--timeout 300ms");
  EXPECT_EQ(ended.exit, 124);
  EXPECT_EQ(ended.error, "tutti launch: ranks 0 and 1 still ran after 300ms; sent SIGTERM\n");
}

TEST_F(LaunchHosts, SaysWhichProgramCannotBeRunThere) {
  const Ended missing = tutti("launch --hosts a,b --agent ./agent --address 127.0.0.1 -- no-such-program-here");
  EXPECT_EQ(missing.exit, 127);
  EXPECT_TRUE(contains(missing.error, ": cannot run 'no-such-program-here': No such file or directory\n"))
      << missing.error;
  EXPECT_TRUE(missing.error.starts_with("tutti launch: host ")) << missing.error;
  EXPECT_EQ(tutti("launch --hosts a --agent ./agent --address 127.0.0.1 -- /tmp").exit, 126);
}

TEST_F(LaunchHosts, TheLocalHostNeedsNoAgent) {
  const Ended ended = tutti("launch --hosts localhost:2 --agent ./missing --tag -- sh -c 'echo $TUTTI_RANK'");
  EXPECT_EQ(ended.exit, 0) << ended.error;
  EXPECT_EQ(sorted_lines(ended.out), (Lines{"[0] 0", "[1] 1"}));
  const Ended both = on("localhost,b", "echo $TUTTI_RANK");
  EXPECT_EQ(sorted_lines(both.out), (Lines{"[0] 0", "[1] 1"}));
  EXPECT_TRUE(folder_.read("commands").starts_with("b "));
}

TEST_F(LaunchHosts, RanksOfOneHostReduce) {
  const Ended ended = tutti(fmt::format("launch --hosts localhost:2,localhost:1 -- '{}'", ALL_REDUCE_EXAMPLE));
  EXPECT_EQ(ended.exit, 0) << ended.error;
  EXPECT_EQ(ended.out, "ranks: 3, elements: 1000, the last one is 3000\n");
}

// --- agents
// -----------------------------------------------------------------------------------------------------------

TEST_F(LaunchHosts, SaysWhichAgentIsWrong) {
  const Ended missing = tutti("launch --hosts a --agent ./missing --address 127.0.0.1 -- true");
  EXPECT_EQ(missing.exit, 2);
  EXPECT_TRUE(contains(missing.error,
                       "cannot run the agent './missing': No such file or directory; --agent takes a "
                       "command that runs its arguments on a host"))
      << missing.error;
  write_program("agent", "echo >&2 no way to $1; exit 255");
  const Ended unreachable = on("a", "true");
  EXPECT_EQ(unreachable.exit, 1);
  EXPECT_TRUE(contains(unreachable.error, "no way to a\n")) << unreachable.error;
  EXPECT_TRUE(contains(unreachable.error, "tutti launch: host a has not answered: ./agent a ")) << unreachable.error;
  EXPECT_TRUE(contains(unreachable.error, "ended with exit code 255; see whether it runs a command such as true\n"));
  const Ended elsewhere = on("localhost,a", "exec sleep 1000", "--grace 100ms");
  EXPECT_EQ(elsewhere.exit, 1);
}

// As the program of that name: it joins its words by spaces, and a shell reads them.
TEST_F(LaunchHosts, ReachesHostsBySsh) {
  write_program("ssh", "echo \"$*\" >>commands; shift 3; exec sh -c \"$*\"");
  const std::string folder = folder_.file("it's here");
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(kTuttiProgram, folder + "/tutti");
  const Ended ended = tutti(fmt::format("launch --hosts a,b --address 127.0.0.1 --tag --tutti \"{}/tutti\" -- sh -c "
                                        "'echo $TUTTI_RANK'",
                                        folder),
                            "PATH=\"$PWD:$PATH\"");
  EXPECT_EQ(ended.exit, 0) << ended.error;
  EXPECT_EQ(sorted_lines(ended.out), (Lines{"[0] 0", "[1] 1"}));
  EXPECT_TRUE(contains(folder_.read("commands"), "-o BatchMode=yes a '")) << folder_.read("commands");
}

TEST_F(LaunchHosts, SaysThatTuttiIsNotThere) {
  const Ended ended = on("a", "true", "--tutti /no/such/tutti");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_TRUE(contains(ended.error, "--tutti takes the path of tutti there")) << ended.error;
}

TEST_F(LaunchHosts, SaysThatTuttiThereHasAnotherVersion) {
  const std::string older = write_program("older", "echo >&2 tutti launch: --remote is not an option; exit 2");
  const Ended unknown = on("a", "true", "--tutti " + older);
  EXPECT_EQ(unknown.exit, 1);
  EXPECT_TRUE(contains(unknown.error, "ended with exit code 2; tutti there may have another version\n"))
      << unknown.error;
  // A greeting, and the refusal of the order.
  const std::string other = write_program("other",
                                          "printf 'A\\0\\0\\0\\0\\3\\0\\0\\0009.9'\n"
                                          "printf 'F\\0\\0\\0\\0\\21\\0\\0\\0tutti is 9.9 here'; cat >/dev/null");
  const Ended refused = on("a", "true", "--tutti " + other);
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(refused.error, "tutti launch: host a: tutti is 9.9 here\n");
}

TEST_F(LaunchHosts, AnAgentThatPrintsIsQuoted) {
  write_program("agent", "echo Welcome to $1; shift; exec \"$@\"");
  const Ended ended = on("a,b", "exec sleep 1000", "--grace 100ms");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_TRUE(contains(ended.error, "has 'Welcome to ")) << ended.error;
  EXPECT_TRUE(contains(ended.error, "nothing else, such as a login script, may write there")) << ended.error;
}

TEST_F(LaunchHosts, AHostThatDoesNotAnswerCanBeInterrupted) {
  write_program("agent", "echo $$ >pid.0; exec sleep 1000");
  const pid_t launcher = start("a", "true");
  process_in("pid.0");
  ::kill(launcher, SIGTERM);
  EXPECT_EQ(wait_for(launcher), 128 + SIGTERM);
  EXPECT_TRUE(contains(folder_.read("error"), "host a has not answered: ./agent a ")) << folder_.read("error");
  expect_all_end(1);
}

TEST_F(LaunchHosts, SaysWhatIsWrongWithItsArguments) {
  const auto complaint = [&](const std::string& arguments) {
    const Ended ended = tutti("launch " + arguments);
    EXPECT_EQ(ended.exit, 2) << arguments;
    return ended.error;
  };
  EXPECT_TRUE(contains(complaint("-- true"), "-n, the number of ranks, is missing; or --hosts"));
  EXPECT_TRUE(contains(complaint("--hosts a:x -- true"), "--hosts: 'a:x' has 'x' ranks"));
  EXPECT_TRUE(contains(complaint("--hosts a:1 -n 2 -- true"), "-n is 2, and --hosts has places for 1"));
  EXPECT_TRUE(contains(complaint("--hosts a --hosts b -- true"), "--hosts"));
  EXPECT_TRUE(contains(complaint("-n 2 --agent x -- true"), "--hosts"));
  EXPECT_TRUE(contains(complaint("--hosts a --address nowhere:x -- true"), "--address is 'nowhere:x'"));
  EXPECT_TRUE(contains(complaint("--hosts a --agent \"'\" -- true"), "a quote is not closed"));
  EXPECT_EQ(tutti("launch --hosts @missing -- true").exit, 1);
  folder_.write("hosts", "a\nb c\n");
  EXPECT_TRUE(contains(complaint("--hosts @hosts -- true"), "hosts:2: found 'c' behind the host, expected slots=N"));
}

// --- what ends, and what is left
// --------------------------------------------------------------------------------------

TEST_F(LaunchHosts, NoRankOutlivesAKilledLauncher) {
  // An agent that stays between, as ssh does, and one that becomes the remote launcher.
  for (const char* agent : {"shift; \"$@\"; exit", "shift; exec \"$@\""}) {
    write_program("agent", agent);
    for (const char* old : {"pid.0", "pid.1", "pid.2"}) std::filesystem::remove(folder_.file(old));
    const pid_t launcher = start("a,b:2", kRunForEver);
    for (const char* name : {"pid.0", "pid.1", "pid.2"}) process_in(name);
    ::kill(launcher, SIGKILL);
    EXPECT_EQ(wait_for(launcher), 128 + SIGKILL);
    expect_all_end(3);
  }
}

TEST_F(LaunchHosts, AKilledRemoteLauncherEndsAllAndIsNamed) {
  for (const char* agent : {"echo $$ >launcher.$1; shift; exec \"$@\"",
                            "host=$1; shift; exec 3<&0; \"$@\" <&3 3<&- & echo $! >launcher.$host; exec >&- sleep 1000",
                            "host=$1; shift; exec 3<&0; \"$@\" <&3 3<&- & echo $! >launcher.$host; wait $!"}) {
    write_program("agent", agent);
    for (const char* old : {"pid.0", "pid.1", "pid.2", "launcher.b"}) std::filesystem::remove(folder_.file(old));
    const pid_t launcher = start("a,b:2", kRunForEver, "--grace 100ms");
    for (const char* name : {"pid.0", "pid.1", "pid.2"}) process_in(name);
    ::kill(process_in("launcher.b"), SIGKILL);
    EXPECT_NE(wait_for(launcher), 0);
    EXPECT_TRUE(contains(folder_.read("error"), "tutti launch: host b is lost with ranks 1 and 2: its agent "))
        << folder_.read("error");
    expect_all_end(3);
  }
}

TEST_F(LaunchHosts, AKilledRankEndsAll) {
  const pid_t launcher = start("a,b", kRunForEver, "--grace 100ms");
  process_in("pid.0");
  ::kill(process_in("pid.1"), SIGKILL);
  EXPECT_EQ(wait_for(launcher), 128 + SIGKILL);
  EXPECT_TRUE(contains(folder_.read("error"), "rank 1 (process ")) << folder_.read("error");
  expect_all_end(2);
}

TEST_F(LaunchHosts, OneInterruptEndsAllInOrder) {
  const pid_t launcher =
      start("a,b", "trap 'echo ended; exit 5' INT; echo $$ >pid.$TUTTI_RANK; while :; do sleep 0.01; done");
  process_in("pid.0");
  process_in("pid.1");
  ::kill(launcher, SIGINT);
  EXPECT_EQ(wait_for(launcher), 5);
  EXPECT_EQ(sorted_lines(folder_.read("out")), (Lines{"[0] ended", "[1] ended"})) << folder_.read("error");
}

TEST_F(LaunchHosts, ForwardsWhatAsksItToEnd) {
  const pid_t launcher =
      start("a,b", "trap '' TERM; echo $$ >pid.$TUTTI_RANK; while :; do sleep 0.01; done", "--grace 100ms");
  process_in("pid.0");
  process_in("pid.1");
  ::kill(launcher, SIGTERM);
  EXPECT_EQ(wait_for(launcher), 128 + SIGKILL);
  expect_all_end(2);
}

TEST_F(LaunchHosts, EndsWhenNobodyReadsItsOutput) {
  write_program("program", "echo $$ >pid.$TUTTI_RANK; exec yes");
  const Ended ended =
      shell(fmt::format("{{ '{}' {}; echo $? >status; }} | head -n 3", kTuttiProgram, options("a,b", "--grace 100ms")));
  EXPECT_EQ(folder_.read("status"), fmt::format("{}\n", 128 + SIGPIPE)) << ended.error;
  // It may have ended before the second rank began.
  for (const char* name : {"pid.0", "pid.1"}) {
    if (!exists(name) || folder_.read(name).empty()) continue;
    const pid_t process = process_in(name);
    EXPECT_TRUE(eventually([&] { return is_ended(process); })) << name;
  }
}

// --- secrets, and strangers
// ---------------------------------------------------------------------------------------------

TEST_F(LaunchHosts, NoCommandLineHasTheIdOrTheVariables) {
  folder_.write("variables", "export TUTTI_SPIN=12345678ns\n");
  const Ended ended = on("a,b",
                         "echo $TUTTI_UNIQUE_ID >id.$TUTTI_RANK; echo $TUTTI_SPIN >>id.$TUTTI_RANK\n"
                         "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' >lines.$TUTTI_RANK\n"
                         "grep -c -e --remote lines.$TUTTI_RANK; grep -F -f id.$TUTTI_RANK lines.$TUTTI_RANK; exit 0",
                         "--tag", ". ./variables;");
  const Lines lines = sorted_lines(ended.out);
  ASSERT_EQ(lines.size(), 2U) << ended.out;  // the counts, and no hit
  EXPECT_GE(std::stoi(lines[0].substr(4)), 2) << ended.out;
  EXPECT_FALSE(contains(folder_.read("commands"), "12345678ns"));
}

TEST_F(LaunchHosts, TheRemoteLauncherRefusesWhatIsNoOrder) {
  const auto said = [&](const std::string& input) {
    const Ended ended = shell(fmt::format("{{ {} ; }} | '{}' launch --remote | cat", input, kTuttiProgram));
    return ended.error;
  };
  EXPECT_TRUE(contains(said("true"), "standard input ended after 0 bytes of an order")) << said("true");
  EXPECT_TRUE(contains(said("echo hello"), "'hello'"));
  EXPECT_TRUE(contains(said("printf '\\001\\0\\0\\0\\0\\377\\377\\377\\377'"), "tutti launch --remote: "));
  EXPECT_TRUE(contains(said("printf '\\001\\0\\0\\0\\0\\011\\0\\0\\0'"), "ended after 9 bytes of an order"));
  EXPECT_TRUE(
      contains(said("printf '\\001\\0\\0\\0\\0\\004\\0\\0\\0abcd'"), "this is not an order: it has no version"));
  EXPECT_TRUE(contains(said("printf '\\001\\0\\0\\0\\0\\007\\0\\0\\0\\003\\0\\0\\0' ; printf 9.9"), "tutti is "));
  EXPECT_TRUE(contains(said("printf '\\002\\0\\0\\0\\0\\0\\0\\0\\0'"), "begins with no order"));
  EXPECT_TRUE(contains(said("head -c 100000 /dev/urandom"), "tutti launch --remote: "));
}

}  // namespace
}  // namespace tutti::test
