// SPDX-License-Identifier: Apache-2.0
// What a worker may say: anything.
#include "bench/measure/said.hpp"

#include <array>
#include <cmath>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tutti::harness {
namespace {

TEST(Said, IsTakenIntoTheRow) {
  Row row;
  const Json said = Json::parse(R"({"bytes": 8, "message": {"bytes": 64, "traffic": 8}, "ran": "ring",
      "counters": {"count": 2, "nothing": null}, "evidence": {"A": {"obeyed": 1, "how": "seen"}}})");
  ASSERT_TRUE(take_said(said, row).ok());
  EXPECT_EQ(row.bytes, 8.0);
  EXPECT_FALSE(row.items.has_value());
  EXPECT_EQ(row.message->traffic, Traffic::send_recv);
  EXPECT_EQ(row.counters.at("count"), 2.0);
  EXPECT_EQ(row.evidence.at("A").obeyed, State::Obeyed::ignored);
  EXPECT_EQ(row.ran, "ring");
}

TEST(Said, NamesAreMadeSafeToShow) {
  Row row;
  const Json said =
      Json::parse(R"({"counters": {"a\u001b": 1}, "evidence": {"B\u001b": {"obeyed": 0, "how": "seen"}}})");
  ASSERT_TRUE(take_said(said, row).ok());
  EXPECT_EQ(row.counters.begin()->first, "a\\x1b");
  EXPECT_EQ(row.evidence.begin()->first, "B\\x1b");
}

// JSON has no word for either; both come as null.
TEST(Said, WhatIsNoNumberIsNoError) {
  Row row;
  ASSERT_TRUE(take_said(Json::parse(R"({"bytes": null, "counters": {"c": null}})"), row).ok());
  EXPECT_FALSE(row.bytes.has_value());
  EXPECT_TRUE(std::isnan(row.counters.at("c")));
}

TEST(Said, WhatIsMalformedIsNamed) {
  for (const char* text :
       {R"({"message": {"bytes": 8, "traffic": 9}})", R"({"message": {"bytes": 8, "traffic": -1}})",
        R"({"message": {"bytes": 8}})", R"({"message": 3})", R"({"evidence": {"A": {"obeyed": 3, "how": "x"}}})",
        R"({"evidence": {"A": {"obeyed": 0}}})", R"({"evidence": {"A": 1}})", R"({"counters": {"c": "8"}})",
        R"({"bytes": "8"})", R"({"ran": 8})"}) {
    Row row;
    EXPECT_FALSE(take_said(Json::parse(text), row).ok()) << text;
  }
  Row row;
  const Status status = take_said(Json::parse(R"({"evidence": {"A": {"obeyed": 77, "how": "x"}}})"), row);
  EXPECT_EQ(status.message(), "A is '77'");
}

// Who has not said the token announces a short message and goes on for ever.
TEST(Connection, TakesInNoMoreThanTheLongestMessage) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  ASSERT_EQ(::fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
  std::thread stranger([end = ends[1]] {
    std::string stream("\x02\0\0\0{}", 6);
    stream.resize(65536, 'x');
    while (::send(end, stream.data(), stream.size(), MSG_NOSIGNAL) > 0) stream.assign(65536, 'x');
  });
  {
    Connection connection{UniqueFd(ends[0])};
    Result<std::optional<Json>> message = std::optional<Json>();
    while (message.ok() && !*message) {
      ASSERT_TRUE(connection.receive().ok());  // comes back
      message = connection.next();
    }
    ASSERT_TRUE(message.ok()) << message.status().to_string();
    ASSERT_TRUE(connection.receive().ok());
    EXPECT_FALSE(connection.next().ok()) << "what follows is no message";
  }
  stranger.join();
  ::close(ends[1]);
}

}  // namespace
}  // namespace tutti::harness
