// SPDX-License-Identifier: Apache-2.0
// Our words for NCCL's types and operators against its header, where that is here.
#include <gtest/gtest.h>
#include <nccl.h>

#include "peers/nccl/call.hpp"

namespace tutti::peers::nccl {
namespace {

TEST(NcclHeader, NumbersAreTheHeaders) {
  const std::pair<Type, int> types[] = {{Type::i8, ncclInt8},      {Type::u8, ncclUint8},    {Type::i32, ncclInt32},
                                        {Type::u32, ncclUint32},   {Type::i64, ncclInt64},   {Type::u64, ncclUint64},
                                        {Type::f16, ncclFloat16},  {Type::f32, ncclFloat32}, {Type::f64, ncclFloat64},
                                        {Type::bf16, ncclBfloat16}};
  for (const auto& [type, number] : types) EXPECT_EQ(native_type(type, NCCL_VERSION_CODE), number) << name_of(type);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 0)
  EXPECT_EQ(native_type(Type::f8e4m3, NCCL_VERSION_CODE), static_cast<int>(ncclFloat8e4m3));
  EXPECT_EQ(native_type(Type::f8e5m2, NCCL_VERSION_CODE), static_cast<int>(ncclFloat8e5m2));
#endif
  const std::pair<Op, int> ops[] = {{Op::sum, ncclSum},
                                    {Op::product, ncclProd},
                                    {Op::maximum, ncclMax},
                                    {Op::minimum, ncclMin},
                                    {Op::average, ncclAvg}};
  for (const auto& [op, number] : ops) EXPECT_EQ(native_op(op), number) << name_of(op);
  EXPECT_EQ(sizeof(UniqueId), sizeof(ncclUniqueId));
  EXPECT_EQ(NCCL_VERSION(2, 24, 0), kStrictVersion);
}

// As many parameters, each passed alike: an enumeration as an int, a handle as a pointer.
template <typename Function>
struct Shape;
template <typename Result, typename... Parameters>
struct Shape<Result (*)(Parameters...)> {
  template <typename Parameter>
  static constexpr char kind() {
    if constexpr (std::is_pointer_v<Parameter>) {
      return 'p';
    } else if constexpr (std::is_enum_v<Parameter> || std::is_same_v<Parameter, int>) {
      return 'i';
    } else {
      return static_cast<char>('A' + sizeof(Parameter) % 26);
    }
  }
  static std::string text() { return {kind<Result>(), kind<Parameters>()...}; }
};
template <typename Ours, typename Theirs>
void expect_same(const char* name) {
  EXPECT_EQ(Shape<Ours>::text(), Shape<Theirs>::text()) << name;
}

TEST(NcclHeader, FunctionsTakeWhatTheHeaderSays) {
  expect_same<decltype(Library::get_version), decltype(&ncclGetVersion)>("ncclGetVersion");
  expect_same<decltype(Library::get_unique_id), decltype(&ncclGetUniqueId)>("ncclGetUniqueId");
  expect_same<decltype(Library::comm_init_rank), decltype(&ncclCommInitRank)>("ncclCommInitRank");
  expect_same<decltype(Library::comm_destroy), decltype(&ncclCommDestroy)>("ncclCommDestroy");
  expect_same<decltype(Library::comm_count), decltype(&ncclCommCount)>("ncclCommCount");
  expect_same<decltype(Library::comm_user_rank), decltype(&ncclCommUserRank)>("ncclCommUserRank");
  expect_same<decltype(Library::get_error_string), decltype(&ncclGetErrorString)>("ncclGetErrorString");
  expect_same<decltype(Library::get_last_error), decltype(&ncclGetLastError)>("ncclGetLastError");
  expect_same<decltype(Library::all_reduce), decltype(&ncclAllReduce)>("ncclAllReduce");
  expect_same<decltype(Library::all_gather), decltype(&ncclAllGather)>("ncclAllGather");
  expect_same<decltype(Library::reduce_scatter), decltype(&ncclReduceScatter)>("ncclReduceScatter");
  expect_same<decltype(Library::broadcast), decltype(&ncclBroadcast)>("ncclBroadcast");
  expect_same<decltype(Library::reduce), decltype(&ncclReduce)>("ncclReduce");
  expect_same<decltype(Library::send), decltype(&ncclSend)>("ncclSend");
  expect_same<decltype(Library::recv), decltype(&ncclRecv)>("ncclRecv");
  expect_same<decltype(Library::group_start), decltype(&ncclGroupStart)>("ncclGroupStart");
  expect_same<decltype(Library::group_end), decltype(&ncclGroupEnd)>("ncclGroupEnd");
}

}  // namespace
}  // namespace tutti::peers::nccl
