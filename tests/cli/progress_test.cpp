// SPDX-License-Identifier: Apache-2.0
// Where no terminal shows how far it is, a line now and then does.
#include "cli/bench/output/progress.hpp"

#include <condition_variable>
#include <mutex>
#include <ostream>
#include <streambuf>

#include <gtest/gtest.h>

#include "calling.hpp"
#include "cli/commands.hpp"

namespace tutti::cli {
namespace {

using std::chrono::milliseconds;

// What is written to it can be waited for.
class Heard : public std::streambuf {
 public:
  bool waits_for(const std::string& text) {
    std::unique_lock lock(mutex_);
    return written_.wait_for(lock, std::chrono::seconds(30), [&] { return contains(text_, text); });
  }
  std::string text() {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 protected:
  std::streamsize xsputn(const char* letters, std::streamsize count) override {
    const std::scoped_lock lock(mutex_);
    text_.append(letters, static_cast<std::size_t>(count));
    written_.notify_all();
    return count;
  }
  int overflow(int letter) override {
    const auto byte = static_cast<char>(letter);
    xsputn(&byte, 1);
    return letter;
  }

 private:
  std::mutex mutex_;
  std::condition_variable written_;
  std::string text_;
};

harness::Row some_row() {
  harness::Row row;
  row.bench = "b";
  row.peer = "p";
  row.samples = {1000};
  return row;
}

class ProgressTest : public ::testing::Test {
 protected:
  Context context(milliseconds every) {
    return {.environment = environment_, .out = stream_, .error = stream_, .sign_of_life = every};
  }
  Environment environment_;
  Heard heard_;
  std::ostream stream_{&heard_};
};

TEST_F(ProgressTest, WithoutATerminalALineTellsHowFarItIs) {
  const Context here = context(milliseconds(1));
  Progress progress(here, {.num_cases = 42, .expected_seconds = 4200}, false);
  EXPECT_TRUE(heard_.waits_for("0 of 42 cases, about 70 min left\n")) << heard_.text();
  const harness::Row row = some_row();
  progress.note(std::span(&row, 1));
  EXPECT_TRUE(heard_.waits_for("1 of 42 cases, about ")) << heard_.text();
  progress.end();
  const std::string before = heard_.text();
  progress.note(std::span(&row, 1));
  EXPECT_EQ(heard_.text(), before);
}

TEST_F(ProgressTest, OnATerminalEachRowIsALine) {
  const Context here = context(milliseconds(1));
  Progress progress(here, {.num_cases = 4, .num_done = 2}, true);
  const harness::Row row = some_row();
  progress.note(std::span(&row, 1));
  EXPECT_EQ(heard_.text(), "[3/4, 1 s left] b p, 1 rank: 1 us\n");
}

TEST_F(ProgressTest, ASecondRowOfACaseIsOneMoreRow) {
  const Context here = context(milliseconds(1));
  Progress progress(here, {.num_cases = 4}, true);
  const std::vector<harness::Row> rows(2, some_row());
  progress.note(rows);
  EXPECT_TRUE(contains(heard_.text(), "  and 1 more row\n")) << heard_.text();
}

TEST_F(ProgressTest, ProvingTellsHowFarItIs) {
  const Command prove = prove_command();
  const auto told = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "prove");
    Heard heard;
    std::ostream stream(&heard);
    const Exit exit =
        run_program(std::span(&prove, 1), arguments,
                    {.environment = environment_, .out = stream, .error = stream, .sign_of_life = milliseconds(1)});
    EXPECT_EQ(exit, Exit::done) << heard.text();
    return heard.text();
  };
  EXPECT_TRUE(contains(told({"--algorithm", "ring", "--num-ranks", "2-24"}), " cases")) << "a line or more";
  EXPECT_TRUE(contains(told({"--num-ranks", "2-6", "--mutate", "40"}), " of 40 mutants"));
}

}  // namespace
}  // namespace tutti::cli
