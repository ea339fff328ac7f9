// SPDX-License-Identifier: Apache-2.0
// Each console block of README.md and of docs/guide/, run in an empty folder with the built program in PATH. The folder
// has build/release, examples and data, so that commands read as they do in the repository.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "../base/temporary_folder.hpp"
#include "console.hpp"

namespace tutti::docs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClaims = "what_tutti_does.md";

struct Said {
  int exit = -1;
  std::string text;  // standard output and standard error
};

// An empty folder in which the commands of one document run.
class Workplace {
 public:
  Workplace() {
    fs::create_directories(folder_.file("build"));
    fs::create_directory_symlink(TUTTI_BUILD_DIR, folder_.file("build/release"));
    for (const char* name : {"examples", "data"})
      fs::create_directory_symlink(fs::path(TUTTI_SOURCE_DIR) / name, folder_.file(name));
  }

  // No settings or results of whoever runs the tests. Root may start ranks of Open MPI, more than there are cores.
  [[nodiscard]] Said run(const std::string& command) const {
    const std::string line = fmt::format(
        "exec 2>&1 </dev/null; cd '{0}' && export PATH='{1}':\"$PATH\" XDG_DATA_HOME='{0}' TUTTI_CONF_FILE= "
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1; {2}",
        folder_.path(), fs::path(TUTTI_PROGRAM).parent_path().string(), command);
    Said said;
    std::FILE* pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return said;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said.text += static_cast<char>(c);
    const int status = ::pclose(pipe);
    said.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return said;
  }

 private:
  const test::TemporaryFolder folder_;
};

// Measuring with the usual budget takes seconds for each case.
std::string with_small_budget(std::string command) {
  if (command.find("--peer ") == std::string::npos || command.find("simulate:") != std::string::npos) return command;
  for (const std::string start : {"tutti run ", "tutti compare "}) {
    const std::size_t at = command.find(start);
    if (at != std::string::npos) command.insert(at + start.size(), "--budget 10ms ");
  }
  return command;
}

std::string word_behind(const std::string& option, const std::string& command) {
  const std::size_t at = command.find(option);
  if (at == std::string::npos) return "";
  return command.substr(at + option.size(), command.find(' ', at + option.size()) - at - option.size());
}

bool shows_error(const Shown& shown) {
  return std::any_of(shown.output.begin(), shown.output.end(), [](const std::string& line) {
    return line.starts_with("error: ") || line.ends_with("--help' tells more");
  });
}

bool differs(const Shown& shown, const Said& said) {
  return (said.exit != 0) != shows_error(shown) || !difference(shown.output, lines_of(said.text)).empty();
}

class Documents : public ::testing::Test {
 protected:
  Documents() {
    for (const nlohmann::json& peer : nlohmann::json::parse(Workplace().run("tutti list peers --json").text))
      if (!peer["here"].get<bool>()) absent_.push_back(peer["peer"]);
  }

  // Of the peers that it measures, and of the launchers that it starts.
  [[nodiscard]] bool needs_absent_peer(const std::string& command) const {
    const std::string peers = word_behind("--peer ", command);
    return std::any_of(absent_.begin(), absent_.end(), [&](const std::string& peer) {
      const bool verifies =
          command.find("--to " + peer) != std::string::npos && command.find("--verify") != std::string::npos;
      return verifies || peers.find(peer) != std::string::npos || command.find("mpirun." + peer) != std::string::npos;
    });
  }

  // A command may fail only where the text shows its error.
  void check(const Workplace& workplace, const std::string& document, const Shown& shown) const {
    const std::string where = fmt::format("{}:{}: {}", document, shown.line, shown.command);
    if (needs_absent_peer(shown.command)) {
      std::cout << "not run, since a peer is not here: " << where << "\n";
      return;
    }
    const std::string command = with_small_budget(shown.command);
    Said said = workplace.run(command);
    // On a busy machine ranks may not begin in time, which a row then says; a named run can be there only once.
    for (int attempt = 0; command != shown.command && attempt < 2 && differs(shown, said); ++attempt) {
      const std::string name = word_behind("--run-name ", command);
      if (!name.empty()) static_cast<void>(workplace.run("tutti delete --yes " + name));
      said = workplace.run(command);
    }
    EXPECT_EQ(said.exit != 0, shows_error(shown)) << where << "\nexits with " << said.exit << ":\n" << said.text;
    EXPECT_EQ(difference(shown.output, lines_of(said.text)), "") << where << "\nprints:\n" << said.text;
  }

  void check_document(const fs::path& path) const {
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const Workplace workplace;
    for (const Shown& shown : console_commands(text)) check(workplace, path.filename().string(), shown);
  }

 private:
  std::vector<std::string> absent_;
};

TEST_F(Documents, CommandsOfTheReadmePrintWhatItShows) {
  const fs::path readme = fs::path(TUTTI_SOURCE_DIR) / "README.md";
  std::ifstream file(readme);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_GE(console_commands(text).size(), 4U);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 150);
  check_document(readme);
}

TEST_F(Documents, CommandsOfTheGuidePrintWhatItShows) {
  std::vector<fs::path> pages;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(TUTTI_SOURCE_DIR) / "docs/guide"))
    if (entry.path().extension() == ".md" && entry.path().filename() != kClaims) pages.push_back(entry.path());
  std::sort(pages.begin(), pages.end());
  EXPECT_GE(pages.size(), 9U);
  for (const fs::path& page : pages) check_document(page);
}

// Each row of the table of claims names a command that a console block below runs.
TEST_F(Documents, CommandsOfTheClaimsPrintWhatTheyShow) {
  const fs::path page = fs::path(TUTTI_SOURCE_DIR) / "docs/guide" / kClaims;
  check_document(page);
  std::ifstream file(page);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::vector<Shown> run = console_commands(text);
  std::size_t num_claims = 0;
  for (const std::string& line : lines_of(text)) {
    const std::size_t begin = line.find("| `");
    if (!line.starts_with("| ") || begin == std::string::npos) continue;
    const std::string command = line.substr(begin + 3, line.find("` |", begin) - begin - 3);
    EXPECT_TRUE(std::any_of(run.begin(), run.end(), [&](const Shown& each) {
      return each.command.find(command) != std::string::npos;
    })) << command;
    ++num_claims;
  }
  EXPECT_GE(num_claims, 8U);
}

struct Link {
  std::string file;    // empty: the document itself
  std::string anchor;  // empty: none
};

// Links of a document to files and headings; pictures and pages elsewhere aside.
std::vector<Link> links_of(const std::string& text) {
  const std::regex link(R"(\[[^\]]*\]\(([^)#:]*)(#([^)]*))?\))");
  std::vector<Link> links;
  for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at)
    if (at->position() == 0 || text[static_cast<std::size_t>(at->position()) - 1] != '!')
      links.push_back({(*at)[1], (*at)[3]});
  return links;
}

// "## What is kept" has the anchor "what-is-kept".
bool has_heading(const fs::path& path, const std::string& anchor) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) continue;
    std::string slug;
    for (const char c : line.substr(std::min(line.find_first_not_of("# "), line.size())))
      if (c == ' ')
        slug += '-';
      else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
        slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (slug == anchor) return true;
  }
  return false;
}

std::vector<fs::path> all_documents() {
  const fs::path root(TUTTI_SOURCE_DIR);
  std::vector<fs::path> documents{root / "README.md", root / "CONTRIBUTING.md", root / "ARCHITECTURE.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  return documents;
}

std::string text_of(const fs::path& document) {
  std::ifstream file(document);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Links, LeadToFilesAndHeadings) {
  for (const fs::path& document : all_documents()) {
    for (const Link& link : links_of(text_of(document))) {
      const fs::path target = link.file.empty() ? document : document.parent_path() / link.file;
      EXPECT_TRUE(fs::exists(target)) << document << " links to " << link.file;
      const bool leads = link.anchor.empty() || has_heading(target, link.anchor);
      EXPECT_TRUE(leads) << document << " links to " << link.file << "#" << link.anchor;
    }
  }
}

// Paths and names of sources in backquotes: "src/base", "tests/docs/", "bench/axes/case.hpp", "kernels_*.cpp".
std::set<std::string> sources_named_in(const std::string& text) {
  const std::regex quoted("`([A-Za-z0-9_./*]+)`");
  const std::regex source("(src|tests|include|benches|examples|cmake|data)/.*|.*\\.(hpp|cpp|inc)");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at)
    if (const std::string name = (*at)[1]; std::regex_match(name, source)) names.insert(name);
  return names;
}

// All files and folders that sources are in, from the root. Each stands there with the blanks around it.
std::string all_sources() {
  const fs::path root(TUTTI_SOURCE_DIR);
  std::string all;
  for (const char* top : {"src", "tests", "include", "benches", "examples", "cmake", "data"}) {
    all += fmt::format(" {} ", top);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path path = fs::relative(entry.path(), root);
      all += fmt::format(" {} ", path.string());
      // A program is called by its source: benches/prediction.
      if (path.extension() == ".cpp") all += fmt::format(" {} ", (path.parent_path() / path.stem()).string());
    }
  }
  return all;
}

// A path from the root, from src/ or from include/; a name without a folder is that of any file.
bool is_there(std::string name, const std::string& sources) {
  const std::string folders = name.find('/') == std::string::npos ? "[^ ]*/" : "(src/|include/)?";
  // What stands for any name is in capital letters: src/algorithms/COLLECTIVE/NAME.cpp.
  name = name.substr(0, std::min(name.find_last_not_of('/') + 1, name.size()));
  name = std::regex_replace(name, std::regex("[A-Z]{2,}"), "*");
  name = std::regex_replace(name, std::regex("\\."), "\\.");
  name = std::regex_replace(name, std::regex("\\*"), "[^ /]*");
  return std::regex_search(sources, std::regex(" " + folders + name + " "));
}

TEST(Links, SourcesThatDocumentsNameExist) {
  const std::string sources = all_sources();
  EXPECT_TRUE(is_there("src/base/", sources) && is_there("base/status.hpp", sources) &&
              is_there("status.hpp", sources));
  EXPECT_TRUE(is_there("src/algorithms/COLLECTIVE/NAME.cpp", sources) && is_there("src/data/kernels_*.cpp", sources));
  EXPECT_FALSE(is_there("src/statu", sources) || is_there("src/status.hpp", sources) || is_there("tatus.hpp", sources));
  for (const fs::path& document : all_documents())
    for (const std::string& name : sources_named_in(text_of(document)))
      EXPECT_TRUE(is_there(name, sources)) << document << " names " << name;
}

}  // namespace
}  // namespace tutti::docs
