// Our words for PMIx's types and numbers against its header, where that is here.
#include <cstddef>

#include <gtest/gtest.h>
#include <pmix.h>

#include "runtime/start/pmix_library.hpp"

namespace tutti::start::pmix {
namespace {

TEST(PmixHeader, NumbersAreTheHeaders) {
  EXPECT_EQ(kSuccess, PMIX_SUCCESS);
  EXPECT_EQ(kNotFound, PMIX_ERR_NOT_FOUND);
  EXPECT_EQ(kTimeout, PMIX_ERR_TIMEOUT);
  EXPECT_EQ(kBool, PMIX_BOOL);
  EXPECT_EQ(kString, PMIX_STRING);
  EXPECT_EQ(kUint32, PMIX_UINT32);
  EXPECT_EQ(kGlobal, PMIX_GLOBAL);
  EXPECT_EQ(kAllRanks, static_cast<std::uint32_t>(PMIX_RANK_WILDCARD));
  EXPECT_STREQ(kJobSize, PMIX_JOB_SIZE);
  EXPECT_STREQ(kLocalSize, PMIX_LOCAL_SIZE);
  EXPECT_STREQ(kImmediate, PMIX_IMMEDIATE);
}

TEST(PmixHeader, TypesAreTheHeaders) {
  EXPECT_EQ(sizeof(Proc), sizeof(pmix_proc_t));
  EXPECT_EQ(offsetof(Proc, rank), offsetof(pmix_proc_t, rank));
  EXPECT_EQ(sizeof(Value), sizeof(pmix_value_t));
  EXPECT_EQ(sizeof(Value::type), sizeof(pmix_value_t::type));
  EXPECT_EQ(offsetof(Value, data), offsetof(pmix_value_t, data));
  EXPECT_EQ(sizeof(Info), sizeof(pmix_info_t));
  EXPECT_EQ(offsetof(Info, flags), offsetof(pmix_info_t, flags));
  EXPECT_EQ(offsetof(Info, value), offsetof(pmix_info_t, value));
}

// As many parameters, each as wide.
template <typename Function>
struct Shape;
template <typename Result, typename... Parameters>
struct Shape<Result (*)(Parameters...)> {
  static constexpr std::size_t sizes[] = {sizeof(Result), sizeof(Parameters)..., 0};
};

template <typename Ours, typename Theirs>
constexpr bool alike() {
  constexpr std::size_t kCount = std::size(Shape<Ours>::sizes);
  if (kCount != std::size(Shape<Theirs>::sizes)) return false;
  for (std::size_t i = 0; i < kCount; ++i)
    if (Shape<Ours>::sizes[i] != Shape<Theirs>::sizes[i]) return false;
  return true;
}

static_assert(alike<decltype(Library::init), decltype(&PMIx_Init)>());
static_assert(alike<decltype(Library::finalize), decltype(&PMIx_Finalize)>());
static_assert(alike<decltype(Library::put), decltype(&PMIx_Put)>());
static_assert(alike<decltype(Library::commit), decltype(&PMIx_Commit)>());
static_assert(alike<decltype(Library::get), decltype(&PMIx_Get)>());
static_assert(alike<decltype(Library::error_string), decltype(&PMIx_Error_string)>());

}  // namespace
}  // namespace tutti::start::pmix
