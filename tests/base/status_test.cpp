// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.hpp"

namespace tutti {
namespace {

TEST(Status, DoneHasNothingToSay) {
  const Status done;
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(done.code(), Code::ok);
  EXPECT_EQ(done.rank(), Status::kNoRank);
  EXPECT_EQ(done.message(), "");
  EXPECT_EQ(done.to_string(), "ok");
  EXPECT_TRUE(done.with_context("starting").ok());
  EXPECT_EQ(sizeof(Status), 2 * sizeof(void*));
}

TEST(Status, ErrorKeepsCodeMessageAndRank) {
  const Status lost(Code::rank_lost, "rank 3 ended", 3);
  EXPECT_FALSE(lost.ok());
  EXPECT_EQ(lost.code(), Code::rank_lost);
  EXPECT_EQ(lost.rank(), 3);
  EXPECT_EQ(lost.message(), "rank 3 ended");
  EXPECT_EQ(lost.cause(), nullptr);
}

TEST(Status, ContextGoesInFrontAndKeepsTheRest) {
  const Status lost(Code::rank_lost, "rank 3 ended", 3);
  const Status outer = lost.with_context("all-reduce").with_context("step 7");
  EXPECT_EQ(outer.to_string(), "step 7: all-reduce: rank 3 ended");
  EXPECT_EQ(outer.code(), Code::rank_lost);
  EXPECT_EQ(outer.rank(), 3);
  ASSERT_NE(outer.cause(), nullptr);
  EXPECT_EQ(outer.cause()->message(), "all-reduce");
}

TEST(Status, ErrnoBecomesWords) {
  const Status status = Status::from_errno("cannot open /x", ENOENT);
  EXPECT_EQ(status.code(), Code::system);
  EXPECT_EQ(status.message(), "cannot open /x: No such file or directory");
}

TEST(Status, NamesTheLimitThatIsReached) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_NE(limit.rlim_cur, RLIM_INFINITY);
  const std::string known = "cannot open /x: Too many open files (this process may have " +
                            std::to_string(limit.rlim_cur) + " of them: ulimit -n; ";
  EXPECT_EQ(Status::from_errno("cannot open /x", EMFILE).message().substr(0, known.size()), known);
}

TEST(Status, SaysWhatRaisesTheLimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto limited_to = [&](rlim_t bytes, rlim_t most) {
    const pid_t child = fork();  // what is lowered there may be raised by root only
    if (child == 0) {
      const rlimit limit{.rlim_cur = bytes, .rlim_max = most};
      setrlimit(RLIMIT_FSIZE, &limit);
      const bool is_hard = limit_behind(EFBIG) ==
                           " (this process may write files of up to 2 KiB: ulimit -f; this is the hard limit, which "
                           "only root raises)";
      const bool is_soft =
          limit_behind(EFBIG) == " (this process may write files of up to 2 KiB: ulimit -f; 'ulimit -f 4' raises it)";
      _exit(is_hard ? 1 : is_soft ? 2 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(limited_to(2048, 2048), 1);
  EXPECT_EQ(limited_to(2048, 4096), 2);
  EXPECT_EQ(limit_behind(ENOENT), "");
}

TEST(Status, EveryCodeHasANameOfItsOwn) {
  for (int a = 0; a <= static_cast<int>(Code::internal); ++a) {
    EXPECT_NE(name_of(static_cast<Code>(a)), "unknown code") << a;
    for (int b = 0; b < a; ++b) EXPECT_NE(name_of(static_cast<Code>(a)), name_of(static_cast<Code>(b)));
  }
}

Status fails_on(int number) {
  if (number < 0) return {Code::invalid_argument, "negative"};
  return {};
}

Status tries_both(int first, int second) {
  TUTTI_TRY(fails_on(first));
  TUTTI_TRY(fails_on(second));
  return {};
}

TEST(Status, TryReturnsTheFirstError) {
  EXPECT_TRUE(tries_both(1, 2).ok());
  EXPECT_EQ(tries_both(1, -2).message(), "negative");
  EXPECT_EQ(tries_both(-1, 2).code(), Code::invalid_argument);
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<std::string> value(std::string("text"));
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, "text");
  EXPECT_EQ(value->size(), 4U);
  EXPECT_TRUE(value.status().ok());

  const Result<std::string> error(Status(Code::timeout, "late"));
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.status().message(), "late");
}

TEST(Result, GivesItsValueAway) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

// Copies and moves throw where they are told to.
struct Counted {
  explicit Counted(int given) : value(given) { ++alive; }
  Counted(const Counted& other) : value(other.value) {
    if (value < 0) throw std::runtime_error("no copy");
    ++alive;
  }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
  int value;
  static inline int alive = 0;
};

TEST(Result, AssignsValuesAndErrorsOverEachOther) {
  {
    const Result<Counted> one(Counted(1)), two(Counted(2)), error(Status(Code::timeout, "late"));
    Result<Counted> result = one;
    EXPECT_EQ(result->value, 1);
    result = two;
    EXPECT_EQ(result->value, 2);
    result = error;
    EXPECT_EQ(result.status().message(), "late");
    EXPECT_EQ(Counted::alive, 2);
    result = Result<Counted>(Status(Code::aborted, "later"));
    EXPECT_EQ(result.status().message(), "later");
    result = Result<Counted>(two);
    EXPECT_EQ(result->value, 2);
    const Result<Counted>& same = result;
    result = same;
    EXPECT_EQ(result->value, 2);
    EXPECT_EQ(Counted::alive, 3);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Result, AnErrorThatWasMovedFromIsNoValue) {
  Result<Counted> error(Status(Code::timeout, "late"));
  const Result<Counted> taken = std::move(error);
  EXPECT_FALSE(taken.ok());
  EXPECT_FALSE(error.ok());  // NOLINT(bugprone-use-after-move)
}

TEST(Result, KeepsItsErrorWhereAValueCannotBeCopiedOverIt) {
  {
    Result<Counted> negative(Counted(1));
    negative->value = -1;
    Result<Counted> error(Status(Code::timeout, "late"));
    EXPECT_THROW(error = negative, std::runtime_error);
    EXPECT_EQ(error.status().message(), "late");
  }
  EXPECT_EQ(Counted::alive, 0);
}

static_assert(std::is_copy_constructible_v<Result<int>> && std::is_copy_assignable_v<Result<int>>);
static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
static_assert(!std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
static_assert(std::is_nothrow_move_constructible_v<Result<std::string>>);

Result<std::unique_ptr<int>> number(int from) {
  if (from < 0) return Status(Code::invalid_argument, "below 0");
  return std::make_unique<int>(from);
}

template <typename A, typename B>
Result<B> converted(A from) {
  return static_cast<B>(from);
}

Result<int> sum_of(int a, int b) {
  TUTTI_TRY_ASSIGN(const std::unique_ptr<int> first, number(a));
  int sum = *first;
  if (b != 0) {
    TUTTI_TRY_ASSIGN(const std::unique_ptr<int> first_of_two, number(b));
    sum += *first_of_two;
  }
  TUTTI_TRY_ASSIGN(sum, converted<int, int>(sum));
  return sum;
}

TEST(Result, TryAssignMovesTheValueOutOrReturnsTheError) {
  EXPECT_EQ(*sum_of(3, 4), 7);
  EXPECT_EQ(*sum_of(3, 0), 3);
  EXPECT_EQ(sum_of(-1, 4).status().message(), "below 0");
  EXPECT_EQ(sum_of(3, -1).status().code(), Code::invalid_argument);
}

TEST(ResultDeathTest, MisuseIsABug) {
  const Result<int> error(Status(Code::timeout, "late"));
  EXPECT_DEATH(static_cast<void>(error.value()), "holds an error");
  EXPECT_DEATH(static_cast<void>(Result<int>(Status())), "needs an error");
}

}  // namespace
}  // namespace tutti
