// SPDX-License-Identifier: Apache-2.0
#include "peers/nccl/log.hpp"

#include <gtest/gtest.h>

#include "peers/nccl/call.hpp"

namespace tutti::peers::nccl {
namespace {

constexpr const char* kLog =
    "host:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n"
    "host:1:1 [0] NCCL INFO NCCL_MIN_CTAS set by environment to 32.\n"
    "host:1:1 [0] NCCL INFO NCCL_MAX_CTAS set by environment to 0.\n"
    "host:1:1 [0] NCCL INFO Invalid value 9999999999999999999 for NCCL_BUFFSIZE, using default 4194304.\n"
    "host:1:1 [0] NCCL INFO RCCL_WARP_SPEED_ENABLE set by environment to 1.";

// "confirmed: how".
std::string evidence(const std::string& name, std::optional<std::string> value, int version = kStrictVersion,
                     const std::optional<std::string>& log = kLog) {
  const harness::Evidence found = evidence_in(log, {name, std::move(value)}, version);
  return std::string(harness::name_of(found.obeyed)) + ": " + found.how;
}

TEST(NcclLog, ConfirmsWhatWasRead) {
  EXPECT_EQ(evidence("NCCL_ALGO", "Ring"), "confirmed: the log says that it was read");
  EXPECT_EQ(evidence("NCCL_MIN_CTAS", "32"), "confirmed: the log says that it was read");
  EXPECT_EQ(evidence("NCCL_MIN_CTAS", "0x20"), "confirmed: the log says that it was read");
  EXPECT_EQ(evidence("RCCL_WARP_SPEED_ENABLE", "1"), "confirmed: the log says that it was read");
  EXPECT_EQ(evidence("NCCL_PROTO", std::nullopt), "confirmed: the log has no value for it");
}

TEST(NcclLog, SaysWhatWasIgnored) {
  EXPECT_EQ(evidence("NCCL_MAX_CTAS", "many"), "ignored: the log says that it is '0'");
  EXPECT_EQ(evidence("NCCL_BUFFSIZE", "9999999999999999999"), "ignored: the log says that the value is invalid");
  EXPECT_EQ(evidence("NCCL_ALGO", std::nullopt), "ignored: the log has 'Ring' from elsewhere, such as nccl.conf");
}

TEST(NcclLog, DoesNotClaimMoreThanItKnows) {
  EXPECT_EQ(evidence("NCCL_PROTO", "LL"), "unverifiable: the log does not say that it was read");
  EXPECT_EQ(evidence("HSA_NO_SCRATCH_RECLAIM", "1"), "unverifiable: the log tells of NCCL_ and RCCL_ variables only");
  EXPECT_EQ(evidence("NCCL_ALGO", "Ring", kStrictVersion, std::nullopt),
            "unverifiable: the log is not ours: an NCCL_DEBUG variable is set");
  EXPECT_EQ(evidence("NCCL_ALGO", "Ring", 22105),
            "unverifiable: the log says that it was read; before 2.24.0 another may do what it cannot");
  EXPECT_EQ(evidence("NCCL_MIN_CTAS", "32", 22105), "confirmed: the log says that it was read");
}

TEST(NcclLibrary, VersionsAreReadInBothForms) {
  EXPECT_EQ(version_text(2708), "2.7.8");
  EXPECT_EQ(version_text(22105), "2.21.5");
  EXPECT_EQ(version_text(kLeastVersion), "2.10.0");
}

TEST(NcclCall, SmallFloatsCameLater) {
  EXPECT_EQ(native_type(Type::f8e5m2, 22809), 11);
  EXPECT_EQ(native_type(Type::f8e5m2, 22304), std::nullopt);
  EXPECT_EQ(native_type(Type::u16, 22809), std::nullopt);
  EXPECT_EQ(native_op(Op::bit_and), std::nullopt);
}

}  // namespace
}  // namespace tutti::peers::nccl
