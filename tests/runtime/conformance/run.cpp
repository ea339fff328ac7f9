// SPDX-License-Identifier: Apache-2.0
#include "conformance/run.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "conformance/image.hpp"
#include "ranks_of_threads.hpp"

namespace tutti::test {

namespace {

// Cases that follow each other on one communicator, each collective forced to one way.
struct Batch {
  std::vector<const Case*> cases;
  std::map<Collective, std::string> ways;
  std::uint64_t symmetric_bytes = 0;

  [[nodiscard]] bool takes(const Case& each) const {
    const auto way = ways.find(each.algorithm->collective);
    return way == ways.end() || way->second == each.way;
  }
};

// An image in symmetric memory, and the byte that makes its addresses odd.
std::uint64_t room_of(const Case& each, std::uint32_t rank) { return Image(each, rank).size() + 1; }

std::vector<Batch> batches_of(std::span<const Case> cases) {
  using Settled = std::tuple<std::uint32_t, WalkerChoice, std::uint64_t, bool>;
  std::map<Settled, std::vector<Batch>> batches;
  for (const Case& each : cases) {
    std::vector<Batch>& alike = batches[{each.num_ranks, each.walker, each.slot, each.attached}];
    auto batch = std::find_if(alike.begin(), alike.end(), [&](const Batch& known) { return known.takes(each); });
    if (batch == alike.end()) batch = alike.emplace(alike.end());
    batch->cases.push_back(&each);
    batch->ways[each.algorithm->collective] = each.way;
    if (each.symmetric)
      for (std::uint32_t rank = 0; rank < each.num_ranks; ++rank)
        batch->symmetric_bytes = std::max(batch->symmetric_bytes, room_of(each, rank));
  }
  std::vector<Batch> all;
  for (auto& [settled, alike] : batches) std::move(alike.begin(), alike.end(), std::back_inserter(all));
  return all;
}

Settings settings_of(const Batch& batch) {
  const Case& first = *batch.cases.front();
  Settings settings = Settings::from(Variables());
  settings.region.staging_slot = settings.region.message_slot = first.slot;
  settings.staging_spread = 1 << 20;
  settings.walker = first.walker;
  if (first.attached) settings.attach_min = 0;
  settings.timeout = std::chrono::seconds(60);
  for (const auto& [collective, way] : batch.ways) settings.forced_of(collective).name = way;
  return settings;
}

// What a call says of blocks that vary.
struct BlocksOfCase {
  BlocksOfCase(const Case& each, std::uint32_t rank)
      : input(placed_blocks(each, rank, Space::input)), output(placed_blocks(each, rank, Space::output)) {
    const auto runs = [&](const PlacedBlocks& blocks) {
      return BlockRuns{blocks.counts.data(), each.spread == Spread::packed ? nullptr : blocks.offsets.data()};
    };
    varying = {.input = runs(input), .output = runs(output)};
  }
  PlacedBlocks input;
  PlacedBlocks output;
  VaryingBlocks varying;
};

// One rank's part of a batch.
class RankOfBatch {
 public:
  explicit RankOfBatch(Communicator& communicator) : communicator_(communicator) {}

  void run(const Batch& batch) {
    if (batch.symmetric_bytes > 0) {
      const Result<void*> memory = communicator_.allocate(batch.symmetric_bytes);
      ASSERT_TRUE(memory.ok()) << memory.status().to_string();
      symmetric_ = static_cast<std::byte*>(*memory);
    }
    for (const Case* each : batch.cases) {
      const Status status = run(*each);
      // Nothing more can be learnt of a broken communicator.
      ASSERT_TRUE(status.ok()) << each->to_string() << ", rank " << communicator_.rank() << ": " << status.to_string();
    }
    if (symmetric_ != nullptr) {
      ASSERT_TRUE(communicator_.free(symmetric_).ok());
    }
  }

 private:
  Status run(const Case& each) {
    const Image image(each, communicator_.rank());
    std::byte* const base = place(each, image.size());
    std::memcpy(base, image.before().data(), image.size());
    OperatorHandle op{static_cast<std::uint32_t>(each.op)};
    const bool is_own = each.op == Op::premultiplied_sum || each.op == Op::user;
    if (is_own) {
      const int rank = static_cast<int>(communicator_.rank());
      const Result<OperatorHandle> made = communicator_.create_operator(exact_operator(exact_input(each), rank));
      if (!made.ok()) return made.status();
      op = *made;
    }
    const bool varies = facts_of(each.algorithm->collective).varies;
    const BlocksOfCase blocks(each, communicator_.rank());
    Invocation asked = {.collective = each.algorithm->collective,
                        .input = image.input() ? base + *image.input() : nullptr,
                        .output = image.output() ? base + *image.output() : nullptr,
                        .count = varies ? 0 : each.count,
                        .type = each.type,
                        .op = op,
                        .root = each.root};
    const Result<tutti::Choice> choice = communicator_.choice_for(asked);
    if (!choice.ok()) return choice.status();
    // A fallback is warned of.
    if (choice->unfollowed == nullptr && choice->way->name != each.way)
      ADD_FAILURE() << each.to_string() << ", rank " << communicator_.rank() << ": " << choice->way->name << " runs";
    if (varies) asked.varying = &blocks.varying;
    TUTTI_TRY(do_by_form(each, asked, image, base));
    if (is_own) TUTTI_TRY(communicator_.destroy_operator(op));
    const std::string fault = image.fault({base, image.size()});
    if (!fault.empty()) ADD_FAILURE() << each.to_string() << ", rank " << communicator_.rank() << ": " << fault;
    return {};
  }

  Status do_by_form(const Case& each, const Invocation& asked, const Image& image, std::byte* base) {
    if (each.form == Form::at_once)
      // As the API calls it, which has a path of its own for small all-reduces.
      return asked.collective == Collective::all_reduce
                 ? communicator_.all_reduce(asked.input, asked.output, asked.count, asked.type, asked.op)
                 : communicator_.run(asked);
    const Result<Operation*> operation = communicator_.prepare(asked, each.form == Form::prepared);
    if (!operation.ok()) return operation.status();
    for (int start = 0; start < (each.form == Form::prepared ? 2 : 1); ++start) {
      std::memcpy(base, image.before().data(), image.size());
      TUTTI_TRY(communicator_.start(**operation));
      TUTTI_TRY(communicator_.wait(**operation));
    }
    communicator_.release(**operation);
    return {};
  }

  std::byte* place(const Case& each, std::size_t size) {
    constexpr std::size_t kAlignment = 64;
    const std::size_t odd = each.odd_addresses ? 1 : 0;
    if (each.symmetric) return symmetric_ + odd;
    if (ordinary_.size() < size + kAlignment + 1) ordinary_.resize(size + kAlignment + 1);
    void* begin = ordinary_.data();
    std::size_t room = ordinary_.size();
    return static_cast<std::byte*>(std::align(kAlignment, size + 1, begin, room)) + odd;
  }

  Communicator& communicator_;
  std::vector<std::byte> ordinary_;
  std::byte* symmetric_ = nullptr;
};

}  // namespace

std::string run_cases(std::span<const Case> cases) {
  return run_cases(cases, [](std::uint32_t) { return Hosts(); });
}

std::string run_cases(std::span<const Case> cases, const std::function<Hosts(std::uint32_t num_ranks)>& hosts_of,
                      const TransportChoice& transport, const std::optional<transport::faulty::Faults>& faults) {
  const test::TemporaryFolder folder;
  const Environment environment{{"TUTTI_DEBUG_FILE", folder.file("log")}};
  const Result<Variables> variables = Variables::load(environment, {});
  EXPECT_TRUE(variables.ok()) << variables.status().to_string();
  for (const Batch& batch : batches_of(cases)) {
    const std::uint32_t num_ranks = batch.cases.front()->num_ranks;
    Settings settings = settings_of(batch);
    settings.transport = transport;
    test::ThreadRanks group(num_ranks, settings, *variables, hosts_of(num_ranks), faults);
    // How its own copies are stored is each rank's own affair.
    group.run([&](Communicator& communicator) { RankOfBatch(communicator).run(batch); },
              test::ThreadRanks::store_differently);
    if (::testing::Test::HasFailure()) break;
  }
  return folder.read("log");
}

}  // namespace tutti::test
