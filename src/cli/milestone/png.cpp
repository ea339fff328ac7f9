// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/png.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/spawn.hpp"
#include "base/text.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kConverter = "rsvg-convert";

}  // namespace

PngMaker::PngMaker(const Environment& environment) : environment_(environment) {
  const std::string folders = environment.lookup("PATH").value_or("");
  for (const std::string_view folder : split(folders, ':')) {
    const std::string path = fmt::format("{}/{}", folder, kConverter);
    if (folder.empty() || ::access(path.c_str(), X_OK) != 0) continue;
    program_ = path;
    return;
  }
}

std::string PngMaker::reason() {
  return fmt::format("there are no PNG pictures beside the SVG ones: {} is not on PATH (Debian: librsvg2-bin)",
                     kConverter);
}

Status PngMaker::make(const std::string& svg, const std::string& png) const {
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
  return {Code::system, fmt::format("{} could not make {}", kConverter, in_quotes(png))};
}

}  // namespace tutti::cli
