// SPDX-License-Identifier: Apache-2.0
#include "fabric/processing_element.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "fabric/files/load.hpp"

namespace tutti::fabric {
namespace {

std::string error_of(const std::string& text) {
  const Result<ProcessingElement> element = read_processing_element(text, "my.toml", {});
  return element.ok() ? "" : element.status().to_string();
}

TEST(ProcessingElement, ReadsFiguresAndTakesNoLimitWhereNothingIsSaid) {
  const Result<ProcessingElement> element = read_processing_element(
      "tile_m = 8\ntile_k = 16\ntile_n = 24\nhbm_bandwidth = \"2GB/s\"\ngemm_overhead = \"1us\"\nloaded_tiles = 3\n",
      "my.toml", {});
  ASSERT_TRUE(element.ok()) << element.status().to_string();
  EXPECT_EQ(element->tile_k, 16U);
  EXPECT_EQ(element->hbm_bandwidth, 2);
  EXPECT_EQ(element->gemm_overhead, 1000);
  EXPECT_EQ(element->loaded_tiles, 3U);
  EXPECT_EQ(element->tcm_bandwidth, 0);
  EXPECT_EQ(element->accumulators, 0U);
}

TEST(ProcessingElement, MistakesAreNamedWithFileLineAndKey) {
  const std::string tile = "tile_m = 8\ntile_k = 8\ntile_n = 8\n";
  EXPECT_EQ(error_of("tile_m = 8\ntile_k = 8\n"), "my.toml:1: tile_n is missing; write tile_n = 32");
  EXPECT_EQ(error_of("tile_m = 8\ntile_k = 0\ntile_n = 8\n"), "my.toml:2: tile_k: a side of a tile is 1 to 65536 long");
  EXPECT_EQ(error_of(tile + "cycle = 1\n"),
            "my.toml:4: cycle: this is a whole number without a unit; write a time such as \"1.5us\"");
  EXPECT_EQ(error_of(tile + "version = 2\n"), "my.toml:4: version: this is a file of version 2; 1 can be read");
  EXPECT_NE(error_of(tile + "cycles = \"1ns\"\n").find("my.toml:4: cycles"), std::string::npos);
  EXPECT_NE(error_of(tile + "hbm_bandwidth = \"fast\"\n").find("my.toml:4: hbm_bandwidth"), std::string::npos);
  EXPECT_NE(error_of(tile + "multiplications = -1\n").find("my.toml:4: multiplications"), std::string::npos);
}

TEST(ProcessingElement, AWordOrAFileWithFiguresBehindIt) {
  EXPECT_EQ(load_processing_element("Accelerator,dma-overhead=2ns,tile_k=128")->dma_overhead, 2);
  EXPECT_EQ(load_processing_element("accelerator,tile_k=128")->tile_k, 128U);
  const auto error = [](const char* words) { return load_processing_element(words).status().to_string(); };
  EXPECT_EQ(error("accelerator,tile_k=0"), "tile_k: a side of a tile is 1 to 65536 long");
  EXPECT_EQ(error("accelerator,dma_overhed=1ns"),
            "dma_overhed: there is no such figure; the nearest is 'dma_overhead'");
  EXPECT_EQ(error("accelerator:2"), "'accelerator:2': a processing element has no size");
  EXPECT_EQ(error("acelerator"),
            "there is no processing element 'acelerator'; there is 'accelerator', and a file is named with its path or "
            ".toml");
  EXPECT_FALSE(load_processing_element("./nowhere.toml").ok());
}

TEST(ProcessingElement, TheExamplesOfItsSpecificationAreRight) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR) + "/docs/formats/processing_element.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr std::string_view kBegin = "```toml\n";
  const std::size_t begin = text.find(kBegin);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t from = begin + kBegin.size();
  EXPECT_EQ(error_of(text.substr(from, text.find("```", from) - from)), "");
  for (const auto& field : kElementFields) EXPECT_NE(text.find(field.name), std::string::npos) << field.name;
}

}  // namespace
}  // namespace tutti::fabric
