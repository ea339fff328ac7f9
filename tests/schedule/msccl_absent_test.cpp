// SPDX-License-Identifier: Apache-2.0
// What stands in for the XML parser where Tutti is built without it.
#include <gtest/gtest.h>

#include "schedule/msccl/file.hpp"

namespace tutti {
namespace {

TEST(MscclAbsent, SaysWhichPackageIsMissing) {
  EXPECT_FALSE(msccl::has_xml());
  const Status status = msccl::parse_xml("<algo/>", "ring.xml").status();
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_NE(status.message().find("'ring.xml'"), std::string_view::npos) << status.to_string();
  EXPECT_NE(status.message().find("libexpat1-dev"), std::string_view::npos) << status.to_string();
}

}  // namespace
}  // namespace tutti
