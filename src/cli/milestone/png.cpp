// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/png.hpp"

#include <cerrno>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/file.hpp"
#include "base/system/spawn.hpp"
#include "base/system/temporary_folder.hpp"
#include "base/text.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kConverter = "rsvg-convert";
// A picture of two letters, in the font of all pictures.
constexpr std::string_view kLetters =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\" font-family=\"sans-serif\" "
    "font-size=\"11\"><text x=\"2\" y=\"14\">{}</text></svg>\n";
constexpr std::uint64_t kMostLetterBytes = 100'000;

}  // namespace

PngMaker::PngMaker(const Environment& environment) : environment_(environment) {
  constexpr std::string_view kNone = "there are no PNG pictures beside the SVG ones";
  find_program();
  if (program_.empty()) {
    reason_ = fmt::format("{}: {} is not on PATH (Debian: librsvg2-bin)", kNone, kConverter);
    return;
  }
  const Result<bool> fonts = has_fonts();
  if (!fonts.ok()) reason_ = fmt::format("{}: {}", kNone, fonts.status().to_string());
  if (fonts.ok() && !*fonts)
    reason_ = fmt::format("{}: {} finds no font for their words (Debian: fonts-dejavu-core)", kNone, kConverter);
}

void PngMaker::find_program() {
  const std::string folders = environment_.lookup("PATH").value_or("");
  for (const std::string_view folder : split(folders, ':')) {
    const std::string path = fmt::format("{}/{}", folder, kConverter);
    if (folder.empty() || ::access(path.c_str(), X_OK) != 0) continue;
    program_ = path;
    return;
  }
}

// Without a font all letters are the same box.
Result<bool> PngMaker::has_fonts() const {
  TUTTI_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make("png"));
  std::set<std::string> pictures;
  for (const std::string_view letters : {"mW", "il"}) {
    const std::string path = fmt::format("{}/{}", folder.path(), letters);
    TUTTI_TRY(replace_file(path + ".svg", fmt::format(kLetters, letters)));
    TUTTI_TRY(make(path + ".svg", path + ".png"));
    TUTTI_TRY_ASSIGN(std::string png, read_file(path + ".png", kMostLetterBytes));
    pictures.insert(std::move(png));
  }
  return pictures.size() > 1;
}

Status PngMaker::make(const std::string& svg, const std::string& png) const {
  static_cast<void>(::unlink(png.c_str()));
  SpawnRequest request;
  // Twice the size, so that small letters stay legible in documents.
  request.command = {program_, "--zoom", "2", "--output", png, svg};
  request.environment = environment_.block();
  const Result<Spawned> started = spawn(request);
  if (!started.ok()) return started.status();
  if (started->refused != 0)
    return Status::from_errno(fmt::format("cannot start {}", in_quotes(program_)), started->refused);
  int status = 0;
  while (::waitpid(started->pid, &status, 0) < 0)
    if (errno != EINTR) return Status::from_errno(fmt::format("cannot wait for {}", kConverter), errno);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  static_cast<void>(::unlink(png.c_str()));
  return {Code::system, fmt::format("{} could not make {}", kConverter, in_quotes(png))};
}

}  // namespace tutti::cli
