// SPDX-License-Identifier: Apache-2.0
#include "nccl_tuner/tuner.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace tutti::nccl_tuner {

namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20U;

struct Close {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

// Empty: the text is read.
std::string read_file(const char* path, std::string& text) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path, "re"));
  if (!file) return std::generic_category().message(errno);
  std::array<char, 4096> piece{};
  while (const std::size_t length = std::fread(piece.data(), 1, piece.size(), file.get())) {
    text.append(piece.data(), length);
    if (text.size() > kMostFileBytes) return "it has more than " + std::to_string(kMostFileBytes) + " bytes";
  }
  return std::ferror(file.get()) != 0 ? std::generic_category().message(errno) : "";
}

std::string counted(std::uint64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace

Tuner::Tuner(const Start& start) : start_(start) { read(); }

void Tuner::read() {
  if (start_.file == nullptr || *start_.file == '\0') {
    log(kLogInfo, "NCCL_TUNER_CONFIG_FILE names no file; NCCL chooses by itself");
    return;
  }
  const std::string path = start_.file;
  std::string text;
  if (const std::string error = read_file(start_.file, text); !error.empty()) {
    log(kLogWarn, "cannot read " + path + ": " + error + "; NCCL chooses by itself");
    return;
  }
  ReadLines read = read_lines(text);
  if (!read.error.empty()) {
    log(kLogWarn,
        path + ":" + std::to_string(read.error_line) + ": " + read.error + "; NCCL chooses by itself for all calls");
    return;
  }
  const std::size_t all = read.lines.size();
  for (const Line& line : read.lines)
    if (line.is_for(start_.ranks, start_.nodes)) lines_.push_back(line);
  log(kLogInfo, counted(all, "line") + " in " + path + ", " + std::to_string(lines_.size()) + " of them for " +
                    counted(start_.ranks, "rank") + " on " + counted(start_.nodes, "node"));
}

void Tuner::note(bool has_matched, bool has_decided) {
  asked_.fetch_add(1, std::memory_order_relaxed);
  if (has_decided) decided_.fetch_add(1, std::memory_order_relaxed);
  if (has_matched && !has_decided) impossible_.fetch_add(1, std::memory_order_relaxed);
}

void Tuner::report() const {
  const std::uint64_t asked = asked_.load(std::memory_order_relaxed);
  const std::uint64_t decided = decided_.load(std::memory_order_relaxed);
  const std::uint64_t impossible = impossible_.load(std::memory_order_relaxed);
  log(kLogInfo, "lines decided " + std::to_string(decided) + " of " + counted(asked, "call") + "; for " +
                    std::to_string(impossible) + " they name what NCCL cannot do here, and for " +
                    std::to_string(asked - decided - impossible) + " there is none");
}

void Tuner::log(int level, const std::string& words) const {
  if (start_.log == nullptr) return;
  start_.log(level, kLogInit | kLogTuning, "libnccl-tuner-tutti", 0, "TUNER/Tutti: %s", words.c_str());
}

}  // namespace tutti::nccl_tuner
