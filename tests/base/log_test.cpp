// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "temporary_folder.hpp"

namespace tutti {
namespace {

class LogTest : public ::testing::Test {
 protected:
  // A log into the file "log" of the test's folder.
  [[nodiscard]] std::unique_ptr<Log> make(Environment environment) const {
    environment.set("TUTTI_DEBUG_FILE", folder_.file("log"));
    return must(environment);
  }
  [[nodiscard]] static std::unique_ptr<Log> must(const Environment& environment) {
    Result<std::unique_ptr<Log>> log = create(environment);
    EXPECT_TRUE(log.ok()) << log.status().to_string();
    return std::move(log).value();
  }
  [[nodiscard]] static Result<std::unique_ptr<Log>> create(const Environment& environment) {
    const Result<Variables> variables = Variables::load(environment, {});
    EXPECT_TRUE(variables.ok()) << variables.status().to_string();
    return Log::create(*variables, {"host", 42});
  }
  [[nodiscard]] std::string written() const { return folder_.read("log"); }

  test::TemporaryFolder folder_;
};

TEST_F(LogTest, LineHasHostProcessRankLevelAndSubsystem) {
  const auto log = make({{"TUTTI_DEBUG", "trace"}});
  log->version(LogSubsystem::init, "tutti {}", "0.1");
  log->set_rank(Rank(3));
  log->warn(LogSubsystem::coll, "{} ranks are late", 2);
  log->info(LogSubsystem::env, "plain");
  log->trace(LogSubsystem::launch, "plain");
  EXPECT_EQ(written(),
            "host:42 [-] VERSION init: tutti 0.1\n"
            "host:42 [3] WARN coll: 2 ranks are late\n"
            "host:42 [3] INFO env: plain\n"
            "host:42 [3] TRACE launch: plain\n");
}

TEST_F(LogTest, EachLevelIncludesThoseBefore) {
  const std::vector<std::pair<const char*, std::size_t>> cases{
      {"none", 0}, {"version", 1}, {"warn", 2}, {"info", 3}, {"trace", 4}};
  for (const auto& [word, count] : cases) {
    const auto log = make({{"TUTTI_DEBUG", word}});
    std::size_t enabled = 0;
    for (const LogLevel level : {LogLevel::version, LogLevel::warn, LogLevel::info, LogLevel::trace}) {
      if (log->enabled(level, LogSubsystem::shm)) ++enabled;
    }
    EXPECT_EQ(enabled, count) << word;
  }
}

TEST_F(LogTest, NothingIsWrittenBelowTheLevel) {
  const auto log = make({{"TUTTI_DEBUG", "warn"}});
  log->info(LogSubsystem::init, "no");
  log->trace(LogSubsystem::init, "no");
  EXPECT_EQ(written(), "");
}

TEST_F(LogTest, SubsystemsSelectInfoAndTraceButNotWarnings) {
  const auto log = make({{"TUTTI_DEBUG", "trace"}, {"TUTTI_DEBUG_SUBSYS", "coll,shm"}});
  EXPECT_TRUE(log->enabled(LogLevel::info, LogSubsystem::coll));
  EXPECT_TRUE(log->enabled(LogLevel::trace, LogSubsystem::shm));
  EXPECT_FALSE(log->enabled(LogLevel::info, LogSubsystem::init));
  EXPECT_FALSE(log->enabled(LogLevel::trace, LogSubsystem::launch));
  EXPECT_TRUE(log->enabled(LogLevel::warn, LogSubsystem::init));
  const auto inverted = make({{"TUTTI_DEBUG", "info"}, {"TUTTI_DEBUG_SUBSYS", "^coll,shm"}});
  EXPECT_FALSE(inverted->enabled(LogLevel::info, LogSubsystem::coll));
  EXPECT_TRUE(inverted->enabled(LogLevel::info, LogSubsystem::launch));
  EXPECT_TRUE(inverted->enabled(LogLevel::info, LogSubsystem::init));
}

TEST_F(LogTest, FileNameTakesHostAndProcess) {
  const auto log = must({{"TUTTI_DEBUG_FILE", folder_.file("%h.%p.100%%")}});
  log->warn(LogSubsystem::env, "here");
  EXPECT_EQ(folder_.read("host.42.100%"), "host:42 [-] WARN env: here\n");
}

TEST_F(LogTest, AFileIsAppendedTo) {
  folder_.write("log", "before\n");
  make({})->warn(LogSubsystem::env, "after");
  EXPECT_EQ(written(), "before\nhost:42 [-] WARN env: after\n");
}

TEST_F(LogTest, WrongFileNamesAreErrors) {
  for (const char* name : {"log.%x", "log.%"}) {
    const auto log = create({{"TUTTI_DEBUG_FILE", name}});
    ASSERT_FALSE(log.ok());
    EXPECT_NE(log.status().to_string().find("%h (host), %p (process)"), std::string::npos);
  }
  const std::string path = folder_.file("none/log");
  const auto log = create({{"TUTTI_DEBUG_FILE", path}});
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.status().to_string(),
            "TUTTI_DEBUG_FILE: cannot open '" + path + "' to write the log: No such file or directory");
}

TEST_F(LogTest, WithoutAFileItGoesToStandardError) {
  const auto log = must({});
  ::testing::internal::CaptureStderr();
  log->warn(LogSubsystem::bench, "seen");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "host:42 [-] WARN bench: seen\n");
}

TEST_F(LogTest, EveryLineOfATextHasAFrontAndControlCharactersAreEscaped) {
  make({})->warn(LogSubsystem::env, "one\ntwo \x1b[2J\n");
  EXPECT_EQ(written(), "host:42 [-] WARN env: one\nhost:42 [-] WARN env: two \\x1b[2J\n");
}

TEST_F(LogTest, LongLinesAreCutAndSaySo) {
  make({})->warn(LogSubsystem::env, "{}", std::string(10'000, 'a'));
  const std::string text = written();
  EXPECT_EQ(text.size(), Log::kGreatestLine);
  EXPECT_TRUE(text.ends_with("aaa... (10023 bytes in all)\n")) << text.substr(text.size() - 40);
}

TEST_F(LogTest, WarnOnceOncePerKey) {
  const auto log = make({});
  for (int i = 0; i < 3; ++i) {
    log->warn_once(LogSubsystem::coll, "fallback", "first {}", i);
    log->warn_once(LogSubsystem::coll, "other", "second {}", i);
  }
  EXPECT_EQ(written(), "host:42 [-] WARN coll: first 0\nhost:42 [-] WARN coll: second 0\n");
}

TEST_F(LogTest, LinesOfManyThreadsStayWholeAndOnceIsOnce) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  const auto log = make({{"TUTTI_DEBUG", "info"}});
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&log, thread] {
        for (int i = 0; i < kLines; ++i) {
          log->info(LogSubsystem::shm, "{}", std::string(100, static_cast<char>('a' + thread)));
          log->warn_once(LogSubsystem::shm, "once", "once");
        }
      });
    }
  }
  std::size_t once = 0;
  std::size_t whole = 0;
  const std::string text = written();
  for (const std::string_view line : split(text, '\n')) {
    constexpr std::string_view kFront = "host:42 [-] INFO shm: ";
    if (line == "host:42 [-] WARN shm: once") ++once;
    if (!line.starts_with(kFront) || line.size() != kFront.size() + 100) continue;
    const std::string_view body = line.substr(kFront.size());
    if (std::all_of(body.begin(), body.end(), [&](char c) { return c == body.front(); })) ++whole;
  }
  EXPECT_EQ(once, 1U);
  EXPECT_EQ(whole, std::size_t{kThreads} * kLines);
}

TEST(LogWriter, OfThisProcess) {
  const LogWriter writer = LogWriter::of_this_process();
  EXPECT_FALSE(writer.host.empty());
  EXPECT_EQ(writer.host.find('.'), std::string::npos);
  EXPECT_GT(writer.process, 0);
}

}  // namespace
}  // namespace tutti
