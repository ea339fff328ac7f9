// SPDX-License-Identifier: Apache-2.0
// The list of what goes on in a thread's calls: pieces of work that count how often they went on.
#include "runtime/progress/thread_work.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Ends after so many steps.
class Counted final : public Work {
 public:
  explicit Counted(int length) : length_(length) {}
  Went go_on() override {
    ++steps_;
    return steps_ >= length_ ? Went::to_its_end : Went::on;
  }
  [[nodiscard]] int steps() const { return steps_; }
  ThreadPlace place{*this};

 private:
  int length_;
  int steps_ = 0;
};

constexpr int kForever = 1 << 30;

TEST(ThreadWork, GoesOnUntilItsEnd) {
  EXPECT_TRUE(thread_work.is_none());
  Counted brief(2);
  Counted longer(3);
  brief.place.enter();
  longer.place.enter();
  EXPECT_FALSE(thread_work.is_none());
  EXPECT_FALSE(brief.place.is_alone());
  EXPECT_TRUE(go_on_with_thread());
  EXPECT_EQ(brief.steps(), 2);
  EXPECT_TRUE(longer.place.is_alone());
  EXPECT_TRUE(go_on_with_thread());
  EXPECT_FALSE(go_on_with_thread());
  EXPECT_EQ(brief.steps(), 2);
  EXPECT_EQ(longer.steps(), 3);
  EXPECT_TRUE(thread_work.is_none());
}

TEST(ThreadWork, MayEndAsItEnters) {
  Counted at_once(1);
  at_once.place.enter();
  EXPECT_TRUE(thread_work.is_none());
}

TEST(ThreadWork, MayBeLeft) {
  Counted kept(kForever);
  kept.place.enter();
  {
    Counted destroyed(kForever);
    destroyed.place.enter();
  }
  EXPECT_TRUE(go_on_with_thread());
  EXPECT_EQ(kept.steps(), 2);
  kept.place.leave();
  EXPECT_FALSE(go_on_with_thread());
  EXPECT_TRUE(thread_work.is_none());
}

TEST(ThreadWork, OfAThreadThatHasEndedCanBeTakenOver) {
  Counted work(kForever);
  std::thread([&] { work.place.enter(); }).join();
  EXPECT_TRUE(thread_work.is_none());
  EXPECT_FALSE(go_on_with_thread());
  work.place.come();
  EXPECT_TRUE(go_on_with_thread());
  EXPECT_EQ(work.steps(), 2);
}

TEST(ThreadWork, ThatIsInNoListComesToNone) {
  Counted work(1);
  std::thread([&] { work.place.enter(); }).join();
  work.place.come();
  EXPECT_TRUE(thread_work.is_none());
}

TEST(ThreadWork, IsExhausted) {
  class Stuck final : public Work {
   public:
    Went go_on() override { return ++looks <= 10 ? Went::on : Went::nowhere; }
    int looks = 0;
    ThreadPlace place{*this};
  } stuck;
  EXPECT_FALSE(exhaust_thread());
  stuck.place.enter();
  EXPECT_TRUE(exhaust_thread());
  EXPECT_GT(stuck.looks, 10);
  stuck.place.leave();
  Counted work(5000);
  work.place.enter();
  EXPECT_FALSE(exhaust_thread());
  EXPECT_EQ(work.steps(), 5000);
}

// What one thread goes on with others take over and destroy.
TEST(ThreadWork, MayBeDestroyedWhileItsThreadGoesOn) {
  constexpr std::size_t kWorks = 50;
  std::array<std::unique_ptr<Counted>, kWorks> works;
  for (auto& each : works) each = std::make_unique<Counted>(kForever);
  std::atomic<bool> has_entered = false;
  std::atomic<bool> is_over = false;
  std::thread owner([&] {
    for (auto& each : works) each->place.enter();
    has_entered = true;
    while (!is_over) go_on_with_thread();
    EXPECT_FALSE(go_on_with_thread());
    EXPECT_TRUE(thread_work.is_none());
  });
  while (!has_entered) std::this_thread::yield();
  for (std::size_t each = 0; each < kWorks; ++each) {
    if (each % 2 == 0) works[each]->place.come();
    works[each].reset();
  }
  is_over = true;
  owner.join();
  EXPECT_TRUE(thread_work.is_none());
}

}  // namespace
}  // namespace tutti
