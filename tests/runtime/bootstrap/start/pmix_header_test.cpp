// SPDX-License-Identifier: Apache-2.0
// Our words for PMIx's types and numbers against its header, where that is here.
#include <cstddef>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>
#include <pmix.h>

#include "runtime/bootstrap/start/pmix_library.hpp"

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

// As many parameters, each as wide, and pointers where there are pointers.
template <typename Function>
struct Shape;
template <typename Result, typename... Parameters>
struct Shape<Result (*)(Parameters...)> {
  template <typename Parameter>
  static constexpr char kind() {
    if constexpr (std::is_pointer_v<Parameter>) {
      return 'p';
    } else {
      return static_cast<char>('0' + sizeof(Parameter));
    }
  }
  static constexpr char kind_of_result() {
    if constexpr (std::is_void_v<Result>) {
      return 'v';
    } else {
      return kind<Result>();
    }
  }
  static std::string text() { return {kind_of_result(), kind<Parameters>()...}; }
};
template <typename Ours, typename Theirs>
void expect_same(const char* name) {
  EXPECT_EQ(Shape<Ours>::text(), Shape<Theirs>::text()) << name;
}

TEST(PmixHeader, FunctionsTakeWhatTheHeaderSays) {
  expect_same<decltype(Library::init), decltype(&PMIx_Init)>("PMIx_Init");
  expect_same<decltype(Library::finalize), decltype(&PMIx_Finalize)>("PMIx_Finalize");
  expect_same<decltype(Library::put), decltype(&PMIx_Put)>("PMIx_Put");
  expect_same<decltype(Library::commit), decltype(&PMIx_Commit)>("PMIx_Commit");
  expect_same<decltype(Library::get), decltype(&PMIx_Get)>("PMIx_Get");
  expect_same<decltype(Library::get_later), decltype(&PMIx_Get_nb)>("PMIx_Get_nb");
  expect_same<Answer, pmix_value_cbfunc_t>("pmix_value_cbfunc_t");
  expect_same<decltype(Library::error_string), decltype(&PMIx_Error_string)>("PMIx_Error_string");
}

}  // namespace
}  // namespace tutti::start::pmix
