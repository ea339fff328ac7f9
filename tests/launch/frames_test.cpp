// SPDX-License-Identifier: Apache-2.0
// What launchers say to each other, whole, in parts, cut and damaged.
#include "launch/frames.hpp"

#include <random>

#include <gtest/gtest.h>

namespace tutti::launch {
namespace {

Order some_order() {
  Order order{.version = "1.2.3",
              .ranks = {.first = 2, .count = 3, .total = 8, .first_place = 1},
              .bind_to_cores = false,
              .id = *UniqueId::make({.port = 4711}),
              .folder = "/tmp",
              .command = {"sh", "-c", "echo \"$A\"\n", ""},
              .variables = {{"A", "b=c"}, {"EMPTY", ""}}};
  return order;
}

std::string payload(const Order& order) { return encode(order).substr(9); }

TEST(Frames, AnOrderComesAsItWasSent) {
  const Order sent = some_order();
  FrameReader reader;
  for (const char c : encode(sent)) {
    EXPECT_FALSE(reader.next()->has_value());
    reader.add({&c, 1});
  }
  const Result<std::optional<Frame>> frame = reader.next();
  ASSERT_TRUE(frame.ok() && *frame);
  EXPECT_EQ((*frame)->type, FrameType::order);
  const Result<Order> came = decode_order((*frame)->bytes, "1.2.3");
  ASSERT_TRUE(came.ok()) << came.status().to_string();
  EXPECT_EQ(payload(*came), payload(sent));
  EXPECT_EQ(came->id, sent.id);
  EXPECT_EQ(came->command, sent.command);
  EXPECT_EQ(came->variables, sent.variables);
}

TEST(Frames, SeveralComeInOrder) {
  FrameReader reader;
  reader.add(encode(FrameType::output, 3, "a") + encode(RankEnd{3, 77, true, 9}) + encode(FrameType::input_end, 0));
  const std::optional<Frame> output = *reader.next();
  EXPECT_EQ(output->bytes, "a");
  EXPECT_EQ(output->number, 3U);
  const Result<RankEnd> end = decode_end(**reader.next());
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(std::tuple(end->rank, end->process, end->was_killed, end->status), std::tuple(3, 77, true, 9));
  EXPECT_EQ((*reader.next())->type, FrameType::input_end);
  EXPECT_FALSE(reader.next()->has_value());
}

TEST(Frames, AnOrderOfAnotherVersionSaysSo) {
  EXPECT_EQ(decode_order(payload(some_order()), "2.0.0").status().to_string(),
            "tutti is 2.0.0 there, and 1.2.3 on the launcher's host; both must be the same");
}

TEST(Frames, OtherTextIsQuoted) {
  FrameReader reader;
  reader.add("Welcome to b\nfree beer");
  EXPECT_EQ(reader.next().status().message(), "'Welcome to b'");
}

TEST(Frames, AFrameThatIsTooLongIsRefusedBeforeItComes) {
  FrameReader reader;
  reader.add({"\x42\0\0\0\0\1\0\1\0", 9});
  EXPECT_FALSE(reader.next().ok());
}

TEST(Frames, WrongOrdersAreRefused) {
  const auto refused = [](void (*change)(Order&)) {
    Order order = some_order();
    change(order);
    return decode_order(payload(order), "1.2.3").status().to_string();
  };
  EXPECT_EQ(refused([](Order& order) { order.ranks.first = 6; }),
            "this is not an order: it asks for 3 ranks from 6 of 8");
  EXPECT_EQ(refused([](Order& order) { order.ranks.first = -1; }),
            "this is not an order: it asks for 3 ranks from -1 of 8");
  EXPECT_EQ(refused([](Order& order) { order.command.clear(); }), "this is not an order: it names no program");
  EXPECT_EQ(refused([](Order& order) {
              order.variables = {{"", "x"}};
            }),
            "this is not an order: a variable has no name or no value");
  EXPECT_EQ(refused([](Order& order) { order.folder = std::string("/tmp\0x", 6); }),
            "this is not an order: it is too short or too long");
}

// Cut anywhere, or with a byte changed: an error, or an order that can be told from the one that was sent.
TEST(Frames, DamagedOrdersDoNoHarm) {
  const std::string whole = payload(some_order());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_order(std::string_view(whole).substr(0, size), "1.2.3").ok()) << size;
  }
  EXPECT_FALSE(decode_order(whole + '\0', "1.2.3").ok());
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (const Result<Order> order = decode_order(damaged, "1.2.3"); order.ok()) {
      EXPECT_GE(order->ranks.count, 1);
    }
  }
}

}  // namespace
}  // namespace tutti::launch
