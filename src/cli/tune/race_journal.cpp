// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/race_journal.hpp"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tutti::cli {

namespace {

using Json = nlohmann::json;

std::string question_of(const tune::CaseKey& key, std::uint64_t bytes, std::span<const TableWay> ways) {
  std::string text = fmt::format("{} {} {} {} {}:", name_of(key.collective), key.ranks, name_of(key.memory),
                                 name_of(key.types), bytes);
  for (const TableWay& way : ways) text += fmt::format(" {};", way.to_string());
  return text;
}

}  // namespace

// A last line that is cut off, and all behind a line that is none, is not there.
std::deque<RaceJournal::Raced> RaceJournal::read(const std::string& path, const std::string& heading) {
  std::deque<Raced> raced;
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line != heading) return raced;
  while (std::getline(file, line)) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("race") || !json.contains("seconds") || !json.contains("times")) break;
    Raced one;
    try {
      one.question = json["race"].get<std::string>();
      one.seconds = json["seconds"].get<double>();
      for (const Json& each : json["times"])
        one.times.push_back({each.at(0).get<std::size_t>(),
                             {.way = {},
                              .us = each.at(1).get<double>(),
                              .low_us = each.at(2).get<double>(),
                              .high_us = each.at(3).get<double>(),
                              .samples = each.at(4).get<std::uint64_t>()}});
    } catch (const Json::exception&) {
      break;
    }
    raced.push_back(std::move(one));
  }
  return raced;
}

RaceJournal RaceJournal::open(std::string path, std::string heading, bool resumes, tune::Track& track) {
  RaceJournal journal(std::move(path), track);
  if (resumes) journal.before_ = read(journal.path_, heading);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(journal.path_).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  errno = 0;
  journal.file_.open(journal.path_, std::ios::trunc);
  journal.file_ << heading << '\n' << std::flush;
  return journal;
}

std::vector<tune::WayTime> RaceJournal::race(const tune::CaseKey& key, std::uint64_t bytes,
                                             std::span<const TableWay> ways, double seconds) {
  Raced raced{.question = question_of(key, bytes, ways), .seconds = 0, .times = {}};
  if (!before_.empty() && before_.front().question == raced.question) {
    raced = std::move(before_.front());
    before_.pop_front();
    ++resumed_;
    skipped_ += raced.seconds;
    write(raced);
    std::vector<tune::WayTime> times;
    for (auto& [place, time] : raced.times) {
      if (place >= ways.size()) continue;
      time.way = ways[place];
      times.push_back(time);
    }
    return times;
  }
  before_.clear();  // the search goes another way
  const double begin = track_->now();
  std::vector<tune::WayTime> times = track_->race(key, bytes, ways, seconds);
  if (track_->is_interrupted()) return times;  // it is not whole
  raced.seconds = track_->now() - begin;
  for (const tune::WayTime& time : times)
    for (std::size_t place = 0; place < ways.size(); ++place)
      if (ways[place] == time.way) raced.times.emplace_back(place, time);
  write(raced);
  return times;
}

// A journal that cannot be written on costs only the resuming.
void RaceJournal::write(const Raced& raced) {
  Json times = Json::array();
  for (const auto& [place, time] : raced.times)
    times.push_back({place, time.us, time.low_us, time.high_us, time.samples});
  file_ << Json{{"race", raced.question}, {"seconds", raced.seconds}, {"times", times}}.dump() << '\n' << std::flush;
}

RaceJournal::~RaceJournal() {
  if (!is_open()) return;
  for (const Raced& each : before_) write(each);
}

void RaceJournal::remove() {
  file_.close();
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace tutti::cli
