// SPDX-License-Identifier: Apache-2.0
// Decision tables: what they say, mistakes with file, line and key, and garbage.
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "table/decision_table.hpp"
#include "table/table_file.hpp"

namespace tutti {
namespace {

constexpr std::string_view kWhole = R"toml(version = 1
name = "mine"
about = "a table"
made = "2026-11-25T18:00:00Z"
measured = "Tutti 0.1.0"

[machine]
fingerprint = "0123456789abcdef"
is = "some processor, 2 cores"
cores = 2

[profile]
based_on = "generic"

[profile.wait]
looks = 300
spin_ns = 7

[[section]]
collective = "all_reduce"
ranks = 2
memory = "ordinary"

  [[section.range]]
  most_bytes = "32K"
  algorithm = "one_shot"
  evidence = [
    { bytes = "8", us = 0.19, low_us = 0.18, high_us = 0.2, samples = 900, runner_up = "the default", margin_percent = 1.2 },
    { bytes = "32K", us = 3.1 },
  ]

  [[section.range]]
  most_bytes = 1000000
  algorithm = "two_shot_pull"
  round = "256K"
  copies = "staged"
  stores = "cached"

  [[section.range]]

[[section]]
collective = "all_reduce"
ranks = 4
types = "narrow"
order = "uniform"

  [[section.range]]
  algorithm = "recursive_multiplying(4)"
)toml";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), by);
}

TEST(Table, SaysWhatItSays) {
  const Result<DecisionTable> table = read_table(kWhole, "my.toml");
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  EXPECT_EQ(table->title(), "my.toml");
  EXPECT_EQ(table->peer, "tutti");
  EXPECT_EQ(table->cores, 2U);
  EXPECT_EQ(table->profile, "generic");
  ASSERT_EQ(table->numbers.entries.size(), 1U);
  EXPECT_EQ(table->numbers.entries[0].key, "wait");
  ASSERT_EQ(table->sections.size(), 2U);
  const TableSection& section = table->sections[0];
  ASSERT_EQ(section.ranges.size(), 3U);
  EXPECT_EQ(section.ranges[0].way.to_string(), "one_shot");
  EXPECT_EQ(section.ranges[0].line, 26U);
  EXPECT_EQ(section.ranges[0].evidence[0].runner_up, "the default");
  EXPECT_EQ(section.ranges[1].way.to_string(), "two_shot_pull [round=256K, copies=staged, stores=cached]");
  EXPECT_EQ(section.ranges[2].way, TableWay());
  EXPECT_EQ(&section.range_of(0), &section.ranges[0]);
  EXPECT_EQ(&section.range_of(32 << 10), &section.ranges[0]);
  EXPECT_EQ(&section.range_of((32 << 10) + 1), &section.ranges[1]);
  EXPECT_EQ(&section.range_of(1000001), &section.ranges[2]);
  EXPECT_EQ(table->sections[1].types, TypeClass::narrow);
  EXPECT_EQ(table->sections[1].order, OrderClass::uniform);
}

TEST(Table, WrittenItReadsTheSame) {
  const Result<DecisionTable> table = read_table(kWhole, "my.toml");
  ASSERT_TRUE(table.ok());
  const std::string text = write_table(*table);
  const Result<DecisionTable> again = read_table(text, "my.toml");
  ASSERT_TRUE(again.ok()) << again.status().to_string() << text;
  EXPECT_EQ(write_table(*again), text);
  EXPECT_EQ(again->sections[0].ranges[1].way, table->sections[0].ranges[1].way);
  EXPECT_EQ(again->sections[0].ranges[0].evidence[0].margin_percent, 1.2);
}

TEST(Table, AnyTextIsWrittenSoThatItCanBeRead) {
  DecisionTable table = *read_table(kWhole, "my.toml");
  table.about = "a \"b\"\\ \n\t\x7f \xc3\xa9";
  EXPECT_EQ(read_table(write_table(table), "my.toml")->about, table.about);
  table.about = "no UTF-8: \xff";
  EXPECT_EQ(read_table(write_table(table), "my.toml")->about, "no UTF-8: \\xff");
}

TEST(Table, OtherPeersHaveSettings) {
  const std::string_view text = R"toml(version = 1
peer = "openmpi"
[machine]
fingerprint = "any"
[[section]]
collective = "broadcast"
ranks = 16
[[section.range]]
algorithm = "pipeline"
settings = { OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize = "8192", "odd name" = "a \"b\"" }
)toml";
  const Result<DecisionTable> table = read_table(text, "o.toml");
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  const TableWay& way = table->sections[0].ranges[0].way;
  EXPECT_EQ(way.settings.size(), 2U);
  const Result<DecisionTable> again = read_table(write_table(*table), "o.toml");
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->sections[0].ranges[0].way, way);
}

struct Mistake {
  std::string_view name;
  std::string_view what;
  std::string_view by;
  std::string_view message;
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.by; }
constexpr Mistake kMistakes[] = {
    {"Version", "version = 1", "version = 2", "my.toml:1: version: is 2; this version of Tutti reads 1"},
    {"NoMachine", "[machine]", "[machin]", "my.toml:7: machin"},
    {"NoFingerprint", "fingerprint = \"0123456789abcdef\"", "", "my.toml:7: machine.fingerprint: is missing"},
    {"Collective", "\"all_reduce\"", "\"all_redoos\"",
     "my.toml:20: section[0].collective: 'all_redoos' is no collective"},
    {"Ranks", "ranks = 2", "ranks = -2", "my.toml:21: section[0].ranks"},
    {"Hosts", "ranks = 4", "ranks = 4\nhosts = 5", "section[1].hosts: is not from 1 to the number of ranks"},
    {"Memory", "\"ordinary\"", "\"ordinal\"", "section[0].memory: is 'ordinal'; it takes one of ordinary, symmetric"},
    {"Algorithm", "\"one_shot\"", "\"one_shoot\"", "my.toml:26: section[0].range[0].algorithm"},
    {"Parameter", "recursive_multiplying(4)", "recursive_multiplying(x)", "section[1].range[0].algorithm"},
    {"CannotDo", "\"one_shot\"", "\"hierarchical(2+3, ring)\"", "section[0].range[0].algorithm"},
    {"Descends", "most_bytes = 1000000", "most_bytes = \"32K\"",
     "section[0].range[1].most_bytes: is not beyond the end"},
    {"Hole", "  [[section.range]]\n\n", "  [[section.range]]\n  most_bytes = \"2M\"\n\n", "most_bytes: leaves a hole"},
    {"Round", "round = \"256K\"", "round = \"256\"", "section[0].range[1].round: is out of range: 4K to 64M"},
    {"Copies", "copies = \"staged\"", "copies = \"stagd\"", "section[0].range[1].copies"},
    {"Size", "most_bytes = \"32K\"", "most_bytes = \"32X\"", "section[0].range[0].most_bytes: is '32X'"},
    {"NegativeSize", "most_bytes = 1000000", "most_bytes = -1", "section[0].range[1].most_bytes: is -1"},
    {"UnknownKey", "stores =", "store =", "section[0].range[1].store"},
    {"Twice", "ranks = 4\ntypes = \"narrow\"", "ranks = 2", "section[1].collective: has two sections"},
    {"Time", "us = 3.1", "us = -3.1", "section[0].range[0].evidence[1].us: is no time"},
    {"NotToml", "cores = 2", "cores = = 2", "my.toml:10"},
    {"Order", "\"uniform\"", "\"ordered\"", "recursive_multiplying(4) folds in order class rank_order"},
    {"Settings", "stores = \"cached\"", "settings = { A = \"1\" }", "settings: are for tables of other peers"},
    {"Profile", "looks = 300", "looks = 300\n[profile]\nx = 1", "my.toml"},
};

class TableMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(TableMistake, IsToldWithFileLineAndKey) {
  const Result<DecisionTable> table =
      read_table(replaced(std::string(kWhole), GetParam().what, GetParam().by), "my.toml");
  ASSERT_FALSE(table.ok());
  EXPECT_NE(table.status().message().find(GetParam().message), std::string::npos) << table.status().message();
  EXPECT_TRUE(table.status().message().starts_with("my.toml:")) << table.status().message();
}
INSTANTIATE_TEST_SUITE_P(Each, TableMistake, ::testing::ValuesIn(kMistakes),
                         [](const auto& test) { return std::string(test.param.name); });

// Two hundred tables, each with some of its letters lost, doubled or changed: read or refused, with the file's name.
// The parser behind takes for granted that there are none.
TEST(Table, ControlCharactersAreMistakesWithTheirPlace) {
  const Result<DecisionTable> table = read_table(std::string_view("version = 1\n[\0", 14), "t.toml");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.status().message(), "t.toml:2:2: a control character, which TOML does not allow");
}

TEST(Table, GarbageIsReadOrRefused) {
  std::mt19937_64 random(27);
  int read = 0;
  int refused = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::string text(kWhole);
    const auto changes = static_cast<unsigned>(1 + random() % 6);
    for (unsigned change = 0; change < changes; ++change) {
      const std::size_t place = random() % text.size();
      const std::size_t length = 1 + random() % 12;
      switch (random() % 4) {
        case 0: text.erase(place, length); break;
        case 1: text.insert(place, text.substr(random() % text.size(), length)); break;
        case 2: text[place] = static_cast<char>(random() % 256); break;
        default: text.resize(place + 1); break;
      }
    }
    const Result<DecisionTable> table = read_table(text, "garbage.toml");
    if (table.ok()) {
      ++read;
      EXPECT_TRUE(read_table(write_table(*table), "again.toml").ok()) << text;
      for (const TableSection& section : table->sections) EXPECT_EQ(section.ranges.back().most_bytes, kNoEnd);
      continue;
    }
    ++refused;
    EXPECT_TRUE(table.status().message().starts_with("garbage.toml")) << table.status().message();
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 100);
}

TableSection section_of(std::uint32_t ranks, TableMemory memory = TableMemory::ordinary,
                        TypeClass types = TypeClass::any) {
  TableSection section;
  section.ranks = ranks;
  section.memory = memory;
  section.types = types;
  return section;
}

DecisionTable table_of(std::initializer_list<TableSection> sections, std::uint32_t cores) {
  DecisionTable table;
  table.cores = cores;
  table.sections = sections;
  return table;
}

TEST(Table, TheNearestNumberOfRanksDecides) {
  const DecisionTable table = table_of({section_of(2), section_of(8), section_of(4, TableMemory::symmetric)}, 0);
  const auto ranks_for = [&](std::uint32_t ranks, TableMemory memory = TableMemory::ordinary) {
    const auto answer = find_section(table, {.ranks = ranks, .memory = memory});
    return answer ? std::pair(answer->section->ranks, answer->is_exact) : std::pair(0U, false);
  };
  EXPECT_EQ(ranks_for(2), std::pair(2U, true));
  EXPECT_EQ(ranks_for(3), std::pair(2U, false));
  EXPECT_EQ(ranks_for(4), std::pair(2U, false));  // as near to both
  EXPECT_EQ(ranks_for(5), std::pair(8U, false));
  EXPECT_EQ(ranks_for(100), std::pair(8U, false));
  EXPECT_EQ(ranks_for(2, TableMemory::symmetric), std::pair(4U, false));
  EXPECT_FALSE(find_section(table, {.collective = Collective::broadcast}));
}

TEST(Table, SeveralHostsAreAnotherCaseThanOne) {
  const auto section = [](std::uint32_t ranks, std::uint32_t hosts) {
    TableSection made = section_of(ranks);
    made.hosts = hosts;
    return made;
  };
  const DecisionTable table = table_of({section(8, 1), section(2, 2), section(8, 4), section(16, 4)}, 2);
  const auto found = [&](std::uint32_t ranks, std::uint32_t hosts, bool crowded) {
    const auto answer = find_section(table, {.ranks = ranks, .crowded = crowded, .hosts = hosts});
    return answer ? std::tuple(answer->section->ranks, answer->section->hosts, answer->is_exact)
                  : std::tuple(0U, 0U, false);
  };
  EXPECT_EQ(found(8, 1, true), std::tuple(8U, 1U, true));
  EXPECT_EQ(found(8, 1, false), std::tuple(0U, 0U, false));
  // Crowded or not: what is between hosts decides. The nearest number of hosts goes first.
  for (const bool crowded : {false, true}) {
    EXPECT_EQ(found(8, 4, crowded), std::tuple(8U, 4U, true));
    EXPECT_EQ(found(8, 2, crowded), std::tuple(2U, 2U, false));
    EXPECT_EQ(found(14, 8, crowded), std::tuple(16U, 4U, false));
  }
  const std::string text = replaced(std::string(kWhole), "ranks = 4", "ranks = 4\nhosts = 2");
  const Result<DecisionTable> read = read_table(text, "my.toml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->sections[1].hosts, 2U);
  EXPECT_EQ(read_table(write_table(*read), "my.toml")->sections[1].hosts, 2U);
}

TEST(Table, OversubscribedRanksAreAnotherCase) {
  const DecisionTable table = table_of({section_of(2), section_of(8)}, 4);
  EXPECT_EQ(find_section(table, {.ranks = 3, .crowded = false})->section->ranks, 2U);
  EXPECT_EQ(find_section(table, {.ranks = 3, .crowded = true})->section->ranks, 8U);
}

TEST(Table, OwnTypesGoBeforeOthers) {
  const DecisionTable table = table_of(
      {section_of(2, TableMemory::ordinary, TypeClass::narrow), section_of(2, TableMemory::ordinary, TypeClass::plain)},
      0);
  EXPECT_EQ(find_section(table, {.types = TypeClass::plain})->section->types, TypeClass::plain);
  EXPECT_EQ(find_section(table, {.types = TypeClass::narrow})->section->types, TypeClass::narrow);
  // Wherever it stands in the file, a section for all types comes behind that of the class itself.
  const DecisionTable mixed = table_of(
      {section_of(2, TableMemory::ordinary, TypeClass::any), section_of(2, TableMemory::ordinary, TypeClass::plain)},
      0);
  EXPECT_EQ(find_section(mixed, {.types = TypeClass::plain})->section->types, TypeClass::plain);
  EXPECT_EQ(find_section(mixed, {.types = TypeClass::narrow})->section->types, TypeClass::any);
  EXPECT_EQ(class_of(Type::bf16), TypeClass::narrow);
  EXPECT_EQ(class_of(Type::f8e4m3), TypeClass::narrow);
  EXPECT_EQ(class_of(Type::f32), TypeClass::plain);
  EXPECT_EQ(class_of(Type::i8), TypeClass::plain);
}

}  // namespace
}  // namespace tutti
