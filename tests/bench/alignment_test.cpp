// SPDX-License-Identifier: Apache-2.0
// Different peers' own knobs as one column.
#include "bench/axes/alignment.hpp"

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

Row row_of(const std::string& peer, std::vector<Setting> settings, Point point) {
  Row row;
  row.peer = peer;
  row.settings = std::move(settings);
  row.point = std::move(point);
  return row;
}

TEST(Alignment, AVariableOfOneAndAnAxisOfAnother) {
  const Result<Alignment> alignment = parse_alignment("cus=nccl:NCCL_MAX_CTAS, mine:comm_sms");
  ASSERT_TRUE(alignment.ok());
  const Result<std::vector<Row>> rows =
      aligned({row_of("nccl", {{"A", "x"}, {"NCCL_MAX_CTAS", "32"}}, {{{"bytes", std::int64_t{8}}}}),
               row_of("nccl#2", {{"NCCL_MAX_CTAS", std::nullopt}}, {{{"bytes", std::int64_t{8}}}}),
               row_of("mine", {}, {{{"bytes", std::int64_t{8}}, {"comm_sms", std::int64_t{32}}}}),
               row_of("other", {{"NCCL_MAX_CTAS", "64"}}, {})},
              {*alignment});
  ASSERT_TRUE(rows.ok()) << rows.status().to_string();
  EXPECT_EQ(*rows->at(0).point.find("cus"), Value(std::int64_t{32}));
  EXPECT_EQ(rows->at(0).settings, (std::vector<Setting>{{"A", "x"}}));
  EXPECT_EQ(*rows->at(1).point.find("cus"), Value("unset"));
  EXPECT_EQ(rows->at(2).point, rows->at(0).point) << "now they are one case";
  EXPECT_EQ(rows->at(3).settings.size(), 1U) << "nobody spoke of this one";
}

TEST(Alignment, SaysWhatIsNotThere) {
  const auto message = [](const std::string& text) {
    return aligned({row_of("nccl", {{"A", "1"}}, {{{"cus", std::int64_t{1}}}})}, {*parse_alignment(text)})
        .status()
        .to_string();
  };
  EXPECT_NE(message("x=nccl:B").find("rows of nccl have no axis or variable 'B'"), std::string::npos);
  EXPECT_NE(message("x=gloo:B").find("there are no rows of peer 'gloo'"), std::string::npos);
  EXPECT_NE(message("cus=nccl:A").find("have that column already"), std::string::npos);
}

TEST(Alignment, RefusesWhatIsNone) {
  for (const char* text : {"", "cus", "cus=", "=nccl:A", "cus=nccl", "cus=:A", "cus=nccl:", "cus=nccl:A,"})
    EXPECT_FALSE(parse_alignment(text).ok()) << text;
}

}  // namespace
}  // namespace tutti::harness
