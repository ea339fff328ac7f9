// SPDX-License-Identifier: Apache-2.0
#include "bench/process/command_runner.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/unique_id.hpp"
#include "bench/measure/clock.hpp"
#include "bench/outputs/evidence.hpp"
#include "bench/outputs/rows.hpp"
#include "bench/process/command.hpp"
#include "bench/process/cores.hpp"

namespace tutti::harness {

namespace {

using std::chrono::milliseconds;

// The limits, and whether the user has had enough, are looked at so often; the end itself is noticed at once.
constexpr milliseconds kRunLook{20};
constexpr std::uint64_t kMostOutput = std::uint64_t{256} << 20;

bool shares_cores(const Group& group) { return group.num_ranks > std::ssize(allowed_whole_cores()); }

// What is known of all rows of a run before it begins.
Row frame_of(const std::string& bench, const Group& group, const Point& point, int launch) {
  Row frame;
  frame.bench = bench;
  frame.peer = group.label;
  frame.num_ranks = group.num_ranks;
  frame.settings = group.settings;
  frame.point = point;
  frame.launch = launch;
  frame.shares_cores = shares_cores(group);
  return frame;
}

// Letters that every file system takes.
std::string file_name(const Row& frame, std::size_t number) {
  std::string name = fmt::format("{:04}", number);
  for (const Setting& setting : frame.settings) name += fmt::format("-{}={}", setting.name, shown(setting.value));
  for (const auto& [axis, value] : frame.point.values) name += fmt::format("-{}={}", axis, value.text());
  for (char& letter : name) {
    const bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                          (letter >= '0' && letter <= '9') || letter == '=' || letter == '-' || letter == '_' ||
                          letter == '.';
    if (!is_plain) letter = '_';
  }
  constexpr std::size_t kLongest = 120;
  return name.substr(0, kLongest);
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return Status::from_errno(fmt::format("cannot keep the output in {}", in_quotes(path)), errno);
}

}  // namespace

struct CommandRunner::Ended {
  std::string failure;  // empty where the program has ended well
  std::string last_words;
  std::string output;
  std::string errors;
  double nanos = 0;
};

bool is_of(const Row& row, const Group& group, const Point& point, int launch) {
  const Value* started = row.point.find("started");
  const bool is_told = started != nullptr && started->is_integer();  // a word is one that the program printed
  const std::int64_t num_ranks = is_told ? started->integer() : row.num_ranks;
  return row.launch == launch && row.peer == group.label && row.settings == group.settings &&
         (group.num_ranks == 0 || num_ranks == group.num_ranks) && row.point.values.size() >= point.values.size() &&
         std::equal(point.values.begin(), point.values.end(), row.point.values.begin());
}

CommandRunner::CommandRunner(CommandSweep sweep, std::vector<std::string> inherited)
    : sweep_(std::move(sweep)), inherited_(std::move(inherited)), random_(sweep_.seed) {}

Status CommandRunner::run(const std::string& bench, const std::vector<Group>& groups, const std::vector<Row>& done,
                          const OnRows& on_rows) {
  for (const Group& group : groups) block_size_ = std::max(block_size_, size_of_block(inherited_, group.settings));
  std::size_t number = 0;
  for (int launch = 0; launch < sweep_.launches; ++launch) {
    for (const Group& group : groups) {
      for (const Case& each : group.cases) {
        if (sweep_.is_interrupted()) return {};
        ++number;
        const bool is_done = std::any_of(done.begin(), done.end(),
                                         [&](const Row& row) { return is_of(row, group, each.point, launch); });
        if (is_done) continue;
        const std::vector<Row> rows = take(bench, {&group, &each, number}, launch);
        if (sweep_.is_interrupted()) return {};
        TUTTI_TRY(on_rows(rows));
      }
    }
  }
  return {};
}

Status CommandRunner::compare(const std::string& bench, const std::vector<Group>& groups, const std::vector<Row>& done,
                              const OnRows& on_rows) {
  for (const Group& group : groups) block_size_ = std::max(block_size_, size_of_block(inherited_, group.settings));
  std::size_t number = 0;
  for (int launch = 0; launch < sweep_.launches; ++launch) {
    // By number of ranks and point, in the order in which they come.
    std::vector<std::vector<Turn>> cases;
    for (const Group& group : groups)
      for (const Case& each : group.cases) {
        const auto same = std::find_if(cases.begin(), cases.end(), [&](const std::vector<Turn>& turns) {
          return turns.front().group->num_ranks == group.num_ranks && turns.front().each->point == each.point;
        });
        (same == cases.end() ? cases.emplace_back() : *same).push_back({&group, &each, ++number});
      }
    for (std::vector<Turn>& turns : cases) {
      if (sweep_.is_interrupted()) return {};
      TUTTI_TRY(compare_turns(bench, std::move(turns), launch, done, on_rows));
    }
  }
  return {};
}

Status CommandRunner::compare_turns(const std::string& bench, std::vector<Turn> turns, int launch,
                                    const std::vector<Row>& done, const OnRows& on_rows) {
  const bool are_done = std::all_of(turns.begin(), turns.end(), [&](const Turn& turn) {
    return std::any_of(done.begin(), done.end(),
                       [&](const Row& row) { return is_of(row, *turn.group, turn.each->point, launch); });
  });
  if (are_done) return {};
  std::shuffle(turns.begin(), turns.end(), random_);
  // Handed over in the order of the groups, whoever came first.
  std::map<std::size_t, std::vector<Row>> by_number;
  for (const Turn& turn : turns) {
    by_number[turn.number] = take(bench, turn, launch);
    if (sweep_.is_interrupted()) return {};
  }
  std::vector<Row> rows;
  for (auto& [number, of_one] : by_number) std::move(of_one.begin(), of_one.end(), std::back_inserter(rows));
  return on_rows(rows);
}

std::vector<Row> CommandRunner::take(const std::string& bench, const Turn& turn, int launch) {
  Row frame = frame_of(bench, *turn.group, turn.each->point, launch);
  if (turn.each->skipped.empty()) return run_case(std::move(frame), *turn.group, turn.number);
  frame.outcome = Outcome::skipped;
  frame.note = turn.each->skipped;
  return {std::move(frame)};
}

std::vector<Row> CommandRunner::run_case(Row frame, const Group& group, std::size_t number) {
  const std::vector<std::string> words = with_values(sweep_.words, frame.point, group.num_ranks);
  frame.ran = in_shell(words);
  Ended ended = run_once(group, words);
  if (!ended.failure.empty() && !ended.last_words.empty())
    ended.failure += fmt::format("; it wrote: {}", ended.last_words);
  if (!sweep_.keep_folder.empty()) {
    const Status kept = keep(file_name(frame, number), ended);
    if (!kept.ok()) frame.note = kept.to_string();
    if (kept.ok() && !ended.failure.empty())
      ended.failure += fmt::format("; all that it wrote is in {}/{}.*", sweep_.keep_folder, file_name(frame, number));
  }
  frame.evidence = evidence_in(ended.output + ended.errors, group.settings);
  const Output output = sweep_.read.read ? sweep_.read.read(ended.output) : Output();
  const bool is_timed_by_wall = !output.is_recognised() && !sweep_.read.is_forced && ended.failure.empty();
  if (!is_timed_by_wall) {
    if (ended.failure.empty() && !output.is_recognised() && !ended.last_words.empty())
      ended.failure =
          fmt::format("--read {} recognises nothing in its output; it wrote: {}", sweep_.read.name, ended.last_words);
    return rows_of(output, frame, ended.failure);
  }
  frame.sync = Sync::wall;
  frame.samples = {ended.nanos};
  frame.rounds = {1};
  fail_if_ignored(frame);
  return {std::move(frame)};
}

CommandRunner::Ended CommandRunner::run_once(const Group& group, const std::vector<std::string>& words) {
  Ended ended;
  // Its address is nobody's: what is needed is a token that no other process has.
  const Result<UniqueId> id = UniqueId::make({.port = 1, .bytes = {127, 0, 0, 1}});
  if (!id.ok()) {
    ended.failure = id.status().to_string();
    return ended;
  }
  const LaunchRequest request = {.launcher = sweep_.launcher,
                                 .num_ranks = std::max(group.num_ranks, 1),
                                 .program = words,
                                 .environment = environment_block(inherited_, group.settings, block_size_),
                                 .id = id->to_text(),
                                 .is_program = true};
  Processes processes;
  const std::int64_t begin = now();
  const Status started = processes.start(request);
  if (!started.ok()) {
    ended.failure = started.to_string();
    return ended;
  }
  std::int64_t end = now();
  while (!processes.have_ended() && ended.failure.empty()) {
    processes.wait_for_end(kRunLook);
    end = now();
    if (sweep_.is_interrupted()) ended.failure = "interrupted";
    if (end - begin > sweep_.limit.value() && !processes.have_ended())
      ended.failure = fmt::format("it has not ended within {} (--timeout)", to_text(sweep_.limit));
    if (processes.num_written() > kMostOutput)
      ended.failure = fmt::format("it has written more than {}", to_text(Bytes(kMostOutput)));
  }
  ended.nanos = static_cast<double>(end - begin);
  if (const auto failure = processes.failure(); failure && ended.failure.empty()) ended.failure = *failure;
  processes.end();
  ended.last_words = processes.last_words();
  ended.output = processes.output();
  ended.errors = processes.errors();
  return ended;
}

Status CommandRunner::keep(const std::string& name, const Ended& ended) const {
  const std::string path = fmt::format("{}/{}", sweep_.keep_folder, name);
  TUTTI_TRY(write_file(path + ".out", ended.output));
  return ended.errors.empty() ? Status() : write_file(path + ".err", ended.errors);
}

}  // namespace tutti::harness
