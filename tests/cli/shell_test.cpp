// SPDX-License-Identifier: Apache-2.0
// Completions and the manual page of the built program.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "../base/temporary_folder.hpp"

namespace tutti {
namespace {

struct Said {
  int exit = -1;
  std::string text;  // standard output and standard error
};

Said shell(const std::string& command) {
  Said said;
  std::FILE* pipe = ::popen(("exec 2>&1; " + command).c_str(), "r");
  if (pipe == nullptr) return said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said.text += static_cast<char>(c);
  const int status = ::pclose(pipe);
  said.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

bool has_tool(const std::string& name) { return shell("command -v " + name).exit == 0; }

const std::string kProgram = std::string("'") + TUTTI_PROGRAM + "'";

// The candidates that a real bash offers for the last word.
std::string bash_offers(const std::string& words) {
  const Said said = shell(
      "bash -c 'source <(\"$0\" completion bash); COMP_WORDS=(" + words +
      "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; _tutti; echo \"${COMPREPLY[*]}\"' " + kProgram);
  EXPECT_EQ(said.exit, 0) << said.text;
  return said.text.substr(0, said.text.find('\n'));
}

TEST(Completion, BashOffersCommandsOptionsAndValues) {
  EXPECT_EQ(bash_offers("tutti si"), "simulate");
  EXPECT_EQ(bash_offers("tutti launch --bin"), "--bind");
  EXPECT_EQ(bash_offers("tutti launch --bind c"), "core");
  EXPECT_EQ(bash_offers("tutti launch --bind = n"), "none");
  EXPECT_EQ(bash_offers("tutti prove --collective all_r"), "all_reduce");
  EXPECT_EQ(bash_offers("tutti prove --algorithm rabens"), "rabenseifner");
  EXPECT_EQ(bash_offers("tutti run --peer tutti,openm"), "tutti,openmpi");
  EXPECT_EQ(bash_offers("tutti run --env TUTTI_TIME"), "TUTTI_TIMEOUT=");
  EXPECT_EQ(bash_offers("tutti run --env OMPI_MCA_coll_tuned_allreduce_algorithm"),
            "OMPI_MCA_coll_tuned_allreduce_algorithm=");
  EXPECT_EQ(bash_offers("tutti run --env TUTTI_TIMEOUT = 3"), "");
  EXPECT_EQ(bash_offers("tutti fabric torus_2"), "torus_2d");
  EXPECT_EQ(bash_offers("tutti list ru"), "runs");
  EXPECT_EQ(bash_offers("tutti help sim"), "simulate");
  EXPECT_EQ(bash_offers("tutti show --format nccl"), "nccl-tests");
  EXPECT_EQ(bash_offers("tutti compare la"), "last");
  EXPECT_EQ(bash_offers("tutti launch -n 2 -- si"), "");
}

// What the line is after a tab at its end, in a real zsh on a terminal of its own; a key writes the line.
constexpr const char* kZsh = R"(
zmodload zsh/zpty
zpty -b z zsh -f -i
zpty -w z "PROMPT= RPROMPT=; unset zle_bracketed_paste; stty cols 1000; autoload -Uz compinit; compinit -D -u; source <('$1' completion zsh); tell() { print; print -r -- \"<<\${BUFFER}>>\"; BUFFER=''; }; zle -N tell; bindkey '^I' complete-word '^X' tell; setopt no_beep; print REA''DY"
zpty -r z line '*READY*'
for words in "${@[2,-1]}"; do
  zpty -n -w z "$words"$'\t\x18'
  zpty -r z line '*<<*>>*'
  line=${line##*<<}
  print -r -- "${line%%>>*}|"
done
zpty -d z
)";

TEST(Completion, ZshCompletesCommandsOptionsAndValues) {
  if (!has_tool("zsh")) GTEST_SKIP() << "there is no zsh here";
  const test::TemporaryFolder folder;
  const std::string script = folder.write("complete.zsh", kZsh);
  const Said said =
      shell("zsh -f " + script + " " + kProgram +
            " 'tutti si' 'tutti launch --bin' 'tutti launch --bind=n' 'tutti simulate --fabric torus_2'"
            " 'tutti run --peer tutti,openm' 'tutti run --env TUTTI_TIMEO' 'tutti run -- /bin/ech' 2>&1 | tr -d '\\r'");
  EXPECT_EQ(said.text,
            "tutti simulate |\ntutti launch --bind=|\ntutti launch --bind=none |\n"
            "tutti simulate --fabric torus_2d |\ntutti run --peer tutti,openmpi,|\ntutti run --env TUTTI_TIMEOUT=|\n"
            "tutti run -- /bin/echo |\n");
}

// The candidates that a real fish offers for the last word, without what it says of them.
std::string fish_offers(const std::string& words) {
  const Said said = shell("fish --no-config -c \"" + kProgram + " completion fish | source; complete -C '" + words +
                          "'\" | cut -f 1 | tr '\\n' ' '");
  return said.text;
}

TEST(Completion, FishOffersCommandsOptionsAndValues) {
  if (!has_tool("fish")) GTEST_SKIP() << "there is no fish here";
  EXPECT_EQ(fish_offers("tutti si"), "simulate ");
  EXPECT_EQ(fish_offers("tutti help si"), "simulate ");
  EXPECT_EQ(fish_offers("tutti launch --bin"), "--bind ");
  EXPECT_EQ(fish_offers("tutti launch --bind c"), "core ");
  EXPECT_EQ(fish_offers("tutti run --peer tutti,openm"), "tutti,openmpi ");
  EXPECT_EQ(fish_offers("tutti run -- /bin/ech"), "/bin/echo ");
  // The value of an option is no command.
  EXPECT_EQ(fish_offers("tutti simulate --json list --tran"), "--transcript ");
  EXPECT_EQ(fish_offers("tutti prove --file list benc"), "");
}

TEST(Completion, ShellsAcceptTheirScripts) {
  for (const char* name : {"bash", "zsh", "fish"}) {
    const Said script = shell(kProgram + " completion " + name);
    EXPECT_EQ(script.exit, 0) << script.text;
    for (const char* word : {"simulate", "rabenseifner", "TUTTI_DEBUG=", "openmpi", "h100_cluster", "nccl-tests"})
      EXPECT_NE(script.text.find(word), std::string::npos) << name << " " << word;
    if (!has_tool(name)) continue;
    const Said parsed = shell(kProgram + " completion " + name + " | " + name + " -n");
    EXPECT_EQ(parsed.exit, 0) << parsed.text;
    EXPECT_EQ(parsed.text, "") << name;
  }
  const Said unknown = shell(kProgram + " completion csh");
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_NE(unknown.text.find("'csh' is not a known shell; name bash, zsh or fish"), std::string::npos);
}

std::vector<std::string> commands() {
  std::vector<std::string> names;
  const std::string help = shell(kProgram + " --help").text;
  for (std::size_t line = help.find("Commands:\n") + 10; help.compare(line, 2, "  ") == 0;
       line = help.find('\n', line) + 1)
    if (help[line + 2] != ' ') names.push_back(help.substr(line + 2, help.find(' ', line + 2) - line - 2));
  return names;
}

// Characters, not bytes.
std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::size_t width = 0;
  for (const char c : text) {
    width = c == '\n' ? 0 : width + ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0);
    widest = std::max(widest, width);
  }
  return widest;
}

TEST(Help, EveryCommandHasExamplesInLinesOfAHundredColumns) {
  EXPECT_GE(commands().size(), 17U);
  EXPECT_LE(widest_line(shell(kProgram + " help").text), 100U);
  for (const std::string& command : commands()) {
    const std::string help = shell(kProgram + " help " + command).text;
    EXPECT_LE(widest_line(help), 100U) << help;
    EXPECT_NE(help.find("Usage: tutti " + command), std::string::npos) << help;
    EXPECT_NE(help.find("\nExamples:\n  "), std::string::npos) << help;
  }
}

TEST(ManPage, HasEveryOptionOfEveryCommand) {
  std::string page = shell(kProgram + " man").text;
  for (std::size_t at = page.find("\\-"); at != std::string::npos; at = page.find("\\-", at)) page.erase(at, 1);
  for (const std::string& command : commands()) {
    const std::size_t begin = page.find("\n.SS tutti " + command + "\n");
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string own = page.substr(begin, page.find("\n.S", begin + 1) - begin);
    const std::string help = shell(kProgram + " " + command + " --help").text;
    int num_options = 0;
    for (std::size_t line = help.find("\n  -"); line != std::string::npos; line = help.find("\n  -", line + 1)) {
      const std::string name = help.substr(line + 3, help.find_first_of(" \n", line + 3) - line - 3);
      EXPECT_NE(own.find("\n.B " + name), std::string::npos) << command << " " << name;
      ++num_options;
    }
    EXPECT_GE(num_options, 2) << help;
  }
}

TEST(ManPage, RendersWithoutWarnings) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(shell(kProgram + " man -o " + folder.file("tutti.1")).exit, 0);
  if (!has_tool("groff")) GTEST_SKIP() << "there is no groff here";
  const Said rendered = shell("groff -man -ww -Tutf8 -P-cbou " + folder.file("tutti.1") + " >" + folder.file("text"));
  EXPECT_EQ(rendered.exit, 0);
  EXPECT_EQ(rendered.text, "");
  EXPECT_NE(folder.read("text").find("EXIT STATUS"), std::string::npos);
}

}  // namespace
}  // namespace tutti
