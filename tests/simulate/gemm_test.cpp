// SPDX-License-Identifier: Apache-2.0
#include "simulate/gemm/gemm.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "fabric/files/load.hpp"
#include "simulate/gemm/gemm_references.hpp"

namespace tutti::simulate {
namespace {

// Loads of a tile take 4096 / 256 + 4 = 20 ns, fetches of a pair 8, products 16, stores 2, writes 12.
fabric::ProcessingElement accelerator() { return *fabric::load_processing_element("accelerator"); }

GemmAnswer run(const char* shape, Preloaded preloaded, const fabric::ProcessingElement& element = accelerator()) {
  const Result<GemmAnswer> answer = simulate_gemm({.shape = *parse_gemm_shape(shape), .preloaded = preloaded}, element);
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return *answer;
}

const GemmUse& stage(const GemmAnswer& answer, GemmStage stage) {
  return answer.stages[static_cast<std::size_t>(stage)];
}

TEST(Gemm, OneResultTakesWhatItsSlowestStageTakesAndTheWayThere) {
  const GemmAnswer streamed = run("32x3072x32", Preloaded::none);
  EXPECT_DOUBLE_EQ(streamed.tiled, 48 * 40 + 8 + 16 + 2 + 12);
  EXPECT_DOUBLE_EQ(streamed.all, streamed.tiled);
  const GemmAnswer half = run("32x3072x32", Preloaded::one);
  EXPECT_DOUBLE_EQ(half.tiled, 48 * 20 + 8 + 16 + 2 + 12);
  EXPECT_DOUBLE_EQ(half.all, half.tiled + 4 + 196'608 / 256.0);
  const GemmAnswer near = run("32x3072x32", Preloaded::both);
  EXPECT_DOUBLE_EQ(near.tiled, 8 + 48 * 16 + 2 + 12);
  EXPECT_DOUBLE_EQ(near.all, near.tiled + 2 * (4 + 196'608 / 256.0));
  EXPECT_EQ(near.model.slowest, GemmUnit::gemm);
  EXPECT_EQ(half.model.slowest, GemmUnit::dma);
}

std::string text_of(const char* path) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR) + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// None of the element's figures is fitted to them.
TEST(Gemm, IsNearThePublishedWindows) {
  const Result<GemmReferences> references =
      read_gemm_references(text_of("/data/references/accelerator_gemm.toml"), "f");
  ASSERT_TRUE(references.ok()) << references.status().to_string();
  ASSERT_EQ(references->windows.size(), 2U);
  EXPECT_EQ(references->element, "accelerator");
  for (const GemmReference& window : references->windows) {
    const GemmAnswer answer = run(to_text(window.shape).c_str(), window.preloaded);
    EXPECT_NEAR(window.is_tiled ? answer.tiled : answer.all, window.value, window.value * 0.02) << window.id;
  }
}

TEST(Gemm, MistakesInReferencesAreNamedWithFileLineAndKey) {
  const std::string head = "id = \"a\"\nsource = \"b\"\npe = \"c\"\n";
  const auto error = [&](const std::string& text) { return read_gemm_references(text, "f").status().to_string(); };
  const auto window = [&](const char* shape, const char* preloaded, const char* which, const char* value) {
    return error(head + "[[windows]]\nid = \"w\"\nshape = \"" + shape + "\"\npreloaded = \"" + preloaded +
                 "\"\nwindow = \"" + which + "\"\nvalue = " + value + "\n");
  };
  EXPECT_EQ(window("1x1x1", "one", "all", "\"1ns\""), "ok");
  EXPECT_EQ(error("id = \"a\"\n"), "f:1: it has no source");
  EXPECT_EQ(error(head), "f:1: it has no windows; write one under [[windows]]");
  EXPECT_EQ(window("1x1", "one", "all", "\"1ns\"").substr(0, 22), "f:6: windows[0].shape:");
  EXPECT_EQ(window("1x1x1", "two", "all", "\"1ns\""), "f:7: windows[0].preloaded: 'two' is not none, one or both");
  EXPECT_EQ(window("1x1x1", "one", "some", "\"1ns\""), "f:8: windows[0].window: 'some' is not all or tiled");
  EXPECT_EQ(window("1x1x1", "one", "all", "\"0ns\""), "f:9: windows[0].value: a window takes some time");
  EXPECT_EQ(window("1x1x1", "one", "all", "\"fast\"").substr(0, 22), "f:9: windows[0].value:");
}

TEST(Gemm, TheExampleOfTheSpecificationOfReferencesIsRight) {
  const std::string text = text_of("/docs/formats/processing_element.md");
  const std::string begin = "```toml\n";
  const std::size_t at = text.rfind(begin) + begin.size();
  const Result<GemmReferences> references = read_gemm_references(text.substr(at, text.find("```", at) - at), "f");
  ASSERT_TRUE(references.ok()) << references.status().to_string();
  EXPECT_EQ(references->windows.size(), 1U);
}

TEST(Gemm, CountsWhatEachStageDoes) {
  const GemmAnswer answer = run("512x512x512", Preloaded::one);
  EXPECT_EQ(answer.tiles, 2048U);
  EXPECT_EQ(stage(answer, GemmStage::preload).records, 1U);
  EXPECT_EQ(stage(answer, GemmStage::dma_in).records, 2048U);
  EXPECT_EQ(stage(answer, GemmStage::fetch).records, 2048U);
  EXPECT_EQ(stage(answer, GemmStage::gemm).records, 2048U);
  EXPECT_EQ(stage(answer, GemmStage::store).records, 256U);
  EXPECT_EQ(stage(answer, GemmStage::dma_out).records, 256U);
  EXPECT_DOUBLE_EQ(stage(answer, GemmStage::dma_in).bytes, 2048 * 4096);
  EXPECT_DOUBLE_EQ(stage(answer, GemmStage::dma_out).bytes, 512 * 512 * 2);
  // All bytes to and from HBM cross its port; all in and out of TCM cross its two.
  const double hbm = 512 * 512 * 2 + 2048.0 * 4096 + 512 * 512 * 2;
  EXPECT_DOUBLE_EQ(answer.ports[0].bytes, hbm);
  EXPECT_DOUBLE_EQ(answer.ports[1].bytes, hbm);
  EXPECT_DOUBLE_EQ(answer.ports[2].bytes, 2048.0 * 8192 + 512 * 512 * 2);
  EXPECT_DOUBLE_EQ(answer.ports[0].busy, hbm / 256);
  std::uint64_t of_units = 0;
  std::uint64_t of_stages = 0;
  for (const GemmUse& use : answer.units) of_units += use.records;
  for (const GemmUse& use : answer.stages) of_stages += use.records;
  EXPECT_EQ(of_units, of_stages);
}

TEST(Gemm, TilesAtTheBorderAreAsLargeAsWhatIsLeft) {
  const GemmAnswer answer = run("33x65x1", Preloaded::none);
  EXPECT_EQ(answer.tiles, 4U);
  EXPECT_DOUBLE_EQ(stage(answer, GemmStage::dma_in).bytes, 2 * (33 * 65 + 2 * 65));
  EXPECT_DOUBLE_EQ(stage(answer, GemmStage::dma_out).bytes, 2 * 33);
  EXPECT_DOUBLE_EQ(stage(answer, GemmStage::gemm).busy, 33.0 * 65 / 4096);
}

// Of one tile of the result, whatever the figures are, the model is the closed form of a pipeline of stages.
TEST(Gemm, TheModelIsExactForOneResult) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> figure(0.1, 30);
  for (int i = 0; i < 300; ++i) {
    fabric::ProcessingElement element = accelerator();
    element.loaded_tiles = element.fetched_tiles = 0;
    element.hbm_bandwidth = 20 * figure(random);
    element.tcm_bandwidth = 100 * figure(random);
    element.dma_overhead = figure(random);
    element.fetch_store_overhead = figure(random);
    element.gemm_overhead = figure(random);
    element.cycle = figure(random) / 10;
    for (const Preloaded preloaded : {Preloaded::none, Preloaded::one, Preloaded::both}) {
      const GemmAnswer answer = run("32x1024x32", preloaded, element);
      ASSERT_NEAR(answer.tiled, answer.model.tiled(), 1e-6) << i << " " << name_of(preloaded);
      ASSERT_NEAR(answer.all, answer.model.all(), 1e-6) << i << " " << name_of(preloaded);
    }
  }
}

// What it leaves out is that writes of results and fetches meet at TCM.
TEST(Gemm, TheModelIsNearForManyResultsAndExactWhereNobodyWaitsForTcm) {
  fabric::ProcessingElement wide = accelerator();
  wide.tcm_bandwidth = 0;
  wide.loaded_tiles = wide.fetched_tiles = wide.accumulators = wide.stored_tiles = 0;
  for (const GemmShape& shape : kGemmShapes) {
    for (const Preloaded preloaded : {Preloaded::none, Preloaded::one, Preloaded::both}) {
      const GemmAnswer answer = run(to_text(shape).c_str(), preloaded);
      EXPECT_NEAR(answer.tiled, answer.model.tiled(), 0.06 * answer.model.tiled())
          << to_text(shape) << " " << name_of(preloaded);
      const GemmAnswer free = run(to_text(shape).c_str(), preloaded, wide);
      EXPECT_NEAR(free.tiled, free.model.tiled(), 0.03 * free.model.tiled())
          << to_text(shape) << " " << name_of(preloaded);
    }
  }
}

TEST(Gemm, IsNotFasterThanMemoryAndArithmetic) {
  for (const GemmShape& shape : kGemmShapes) {
    for (const Preloaded preloaded : {Preloaded::none, Preloaded::one, Preloaded::both}) {
      const GemmAnswer answer = run(to_text(shape).c_str(), preloaded);
      EXPECT_GE(answer.all, answer.ports[0].bytes / 256);
      EXPECT_GE(answer.tiled, static_cast<double>(shape.m) * shape.k * shape.n / 4096);
      for (const GemmUse& unit : answer.units_tiled) EXPECT_LE(unit.busy, answer.tiled * (1 + 1e-12));
    }
  }
}

// With room for one pair in front of it the GEMM unit waits for every fetch.
TEST(Gemm, RoomBetweenUnitsIsWhatLetsThemWorkSideBySide) {
  fabric::ProcessingElement narrow = accelerator();
  narrow.fetched_tiles = 1;
  EXPECT_DOUBLE_EQ(run("32x3072x32", Preloaded::both, narrow).tiled, 48 * (8 + 16) + 2 + 12);
  narrow = accelerator();
  narrow.loaded_tiles = 1;
  EXPECT_DOUBLE_EQ(run("32x3072x32", Preloaded::one, narrow).tiled, 48 * (20 + 8) + 16 + 2 + 12);
  // One accumulator: the next result begins when this one is stored.
  narrow = accelerator();
  narrow.accumulators = 1;
  EXPECT_DOUBLE_EQ(run("32x64x64", Preloaded::both, narrow).tiled, 8 + 2 * (16 + 2) + 12);
}

TEST(Gemm, ShapesAreReadAndTooLargeOnesRefused) {
  EXPECT_EQ(to_text(*parse_gemm_shape("32x3072x32")), "32x3072x32");
  for (const char* wrong : {"", "32", "32x64", "32x64x0", "32x64x32x1", "axbxc", "32x-1x32", "1048577x1x1"})
    EXPECT_FALSE(parse_gemm_shape(wrong).ok()) << wrong;
  const Result<GemmAnswer> answer = simulate_gemm({.shape = {1U << 20U, 1U << 20U, 1U << 20U}}, accelerator());
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.status().message().find("262144 are the most"), std::string::npos) << answer.status().message();
}

}  // namespace
}  // namespace tutti::simulate
