// SPDX-License-Identifier: Apache-2.0
#include "peers/layer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "peers/blas.hpp"
#include "peers/registry.hpp"

namespace tutti::peers {

namespace {

constexpr std::int64_t kMostTokens = 1 << 20;
constexpr std::int64_t kMostWidth = 1 << 16;

struct Shape {
  std::int64_t tokens = 0;
  std::int64_t width = 0;
  std::int64_t tiles = 0;
};

// Why there is no such layer; empty where there is. What is no number the state says.
std::string why_not(const Shape& shape, int num_ranks) {
  if (shape.tokens < 1 || shape.tokens > kMostTokens) return fmt::format("tokens go from 1 to {}", kMostTokens);
  if (shape.width < 1 || shape.width > kMostWidth) return fmt::format("width goes from 1 to {}", kMostWidth);
  if (shape.width % num_ranks != 0) return fmt::format("{} ranks do not divide width {}", num_ranks, shape.width);
  if (shape.tiles < 1 || shape.tiles > shape.tokens) return fmt::format("tiles go from 1 to tokens, {}", shape.tokens);
  return "";
}

Shape shape_of(const Bench::Values& values) {
  const auto number = [&](std::string_view axis) {
    for (const auto& [name, value] : values)
      if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr && name == axis) return *whole;
    return std::int64_t{0};
  };
  return {number("tokens"), number("width"), number("tiles")};
}

// What is multiplied on a rank. Rows and columns hold 1, 2 and 3, times 1, 2 or 3 by rank, so that the sums are whole
// and known, and a contribution that is missing or there twice is seen.
class Factors {
 public:
  Factors(const Shape& shape, int rank, int num_ranks)
      : rows_(static_cast<int>(shape.tokens)),
        inner_(static_cast<int>(shape.width / num_ranks)),
        columns_(static_cast<int>(shape.width)),
        left_(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(inner_)),
        right_(static_cast<std::size_t>(inner_) * static_cast<std::size_t>(columns_)),
        product_(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_)) {
    const auto weight = [](int of_rank) { return static_cast<float>(of_rank % 3 + 1); };
    for (int each = 0; each < num_ranks; ++each) all_inner_ += weight(each) * static_cast<float>(inner_);
    for (std::size_t each = 0; each < left_.size(); ++each)
      left_[each] = of(each / static_cast<std::size_t>(inner_)) * weight(rank);
    for (std::size_t each = 0; each < right_.size(); ++each)
      right_[each] = of(each % static_cast<std::size_t>(columns_));
  }

  // Of the rows from `first` on.
  void multiply(const Blas& blas, int first, int rows) {
    blas.multiply(left_.data() + static_cast<std::size_t>(first) * static_cast<std::size_t>(inner_), right_.data(),
                  product(first), rows, inner_, columns_);
  }
  [[nodiscard]] float* product(int first) {
    return product_.data() + static_cast<std::size_t>(first) * static_cast<std::size_t>(columns_);
  }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(columns_); }
  void poison() { std::fill(product_.begin(), product_.end(), NAN); }
  // What is wrong with what has been added up; empty where nothing is.
  [[nodiscard]] std::string verdict() const {
    std::size_t wrong = 0;
    std::string first;
    for (std::size_t each = 0; each < product_.size(); ++each) {
      const float expected = of(each / columns()) * of(each % columns()) * all_inner_;
      if (product_[each] == expected) continue;
      if (wrong++ == 0) first = fmt::format("element {} is {}, expected {}", each, product_[each], expected);
    }
    return wrong == 0 ? "" : fmt::format("{} ({} of {} are wrong)", first, wrong, product_.size());
  }

 private:
  static float of(std::size_t place) { return static_cast<float>(place % 3 + 1); }

  int rows_;
  int inner_;
  int columns_;
  std::vector<float> left_;
  std::vector<float> right_;
  std::vector<float> product_;
  float all_inner_ = 0;  // of all ranks, weighed
};

Request adding(Factors& factors, int first, int rows) {
  return {.collective = Collective::all_reduce,
          .type = Type::f32,
          .op = Op::sum,
          .count = static_cast<std::size_t>(rows) * factors.columns(),
          .in_place = true,
          .input = factors.product(first),
          .output = factors.product(first)};
}

// The layer as one call, for the peer; nothing where it cannot do that.
Result<std::function<void()>> in_one_piece(Peer& peer, const std::shared_ptr<Factors>& factors, const Blas& blas) {
  TUTTI_TRY_ASSIGN(Operation operation, peer.prepare(adding(*factors, 0, factors->rows())));
  if (operation.load || operation.output != nullptr) return unsupported("its buffers are elsewhere than the product");
  return std::function<void()>([factors, blas, add = std::move(operation.run)] {
    factors->multiply(blas, 0, factors->rows());
    add();
  });
}

Result<std::function<void()>> in_tiles(Peer& peer, const std::shared_ptr<Factors>& factors, const Blas& blas,
                                       int num_tiles) {
  struct Tile {
    int first = 0;
    int rows = 0;
    Pending add;
  };
  std::vector<Tile> tiles;
  for (int tile = 0; tile < num_tiles; ++tile) {
    const auto row_of = [&](int number) {
      return static_cast<int>(std::int64_t{factors->rows()} * number / num_tiles);
    };
    Tile made{.first = row_of(tile), .rows = row_of(tile + 1) - row_of(tile), .add = {}};
    TUTTI_TRY_ASSIGN(made.add, peer.prepare_pending(adding(*factors, made.first, made.rows)));
    tiles.push_back(std::move(made));
  }
  return std::function<void()>([factors, blas, tiles = std::move(tiles)] {
    for (const Tile& tile : tiles) {
      factors->multiply(blas, tile.first, tile.rows);
      tile.add.start();
    }
    for (const Tile& tile : tiles) tile.add.wait();
  });
}

// A median, while all ranks multiply at the same time.
double gemm_microseconds(Factors& factors, const Blas& blas, Context& context) {
  std::array<double, 9> times{};
  factors.multiply(blas, 0, factors.rows());
  for (double& time : times) {
    context.barrier();
    const auto begin = std::chrono::steady_clock::now();
    factors.multiply(blas, 0, factors.rows());
    time = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void tell_evidence(const Peer& peer, State& state) {
  for (const harness::Setting& setting : peer.settings()) {
    const std::vector<Collective> concerned = collectives_of(setting.name);
    const bool is_about_it =
        concerned.empty() || std::find(concerned.begin(), concerned.end(), Collective::all_reduce) != concerned.end();
    const harness::Evidence evidence = is_about_it ? peer.evidence(setting) : unverifiable("it concerns no all_reduce");
    state.set_evidence(setting.name, evidence.obeyed, evidence.how);
  }
}

void measure(Peer& peer, State& state, Context& context) {
  const Shape shape{state.integer("tokens"), state.integer("width"), state.integer("tiles")};
  if (const std::string words = why_not(shape, context.num_ranks()); !words.empty()) return state.skip(words);
  const Result<Blas> blas = Blas::open();
  if (!blas.ok()) return state.skip(blas.status().message());
  const auto factors = std::make_shared<Factors>(shape, context.rank(), context.num_ranks());
  const Result<std::function<void()>> call = shape.tiles == 1
                                                 ? in_one_piece(peer, factors, *blas)
                                                 : in_tiles(peer, factors, *blas, static_cast<int>(shape.tiles));
  if (!call.ok()) {
    if (call.status().code() != Code::unsupported) state.fail(call.status().to_string());
    return state.skip(call.status().message());
  }
  const double multiplied = static_cast<double>(shape.tokens) * static_cast<double>(shape.width) *
                            static_cast<double>(shape.width) / context.num_ranks();
  state.set_flops(2 * multiplied);
  state.counter("gemm_us", gemm_microseconds(*factors, *blas, context));
  if (peer.gives_results()) state.set_check([factors] { factors->poison(); }, [factors] { return factors->verdict(); });
  state.exec(*call);
  const std::string ran = peer.ran(adding(*factors, 0, static_cast<int>(shape.tokens / shape.tiles)));
  state.set_ran(fmt::format("sgemm of {}{}{}", blas->name(), ran.empty() ? "" : ", ", ran));
  tell_evidence(peer, state);
}

std::string check_whole(AxisValue& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr && *whole > 0 ? "" : "it takes whole numbers from 1 on";
}

}  // namespace

Bench layer_bench(Peer* peer) {
  Bench bench("layer");
  bench.num_ranks({2}).axis("tokens", {16, 128, 1024}).axis("width", {2048}).axis("tiles", {1, 4});
  for (const char* axis : {"tokens", "width", "tiles"}) bench.check(axis, check_whole);
  bench.skip_if([](const Bench::Values& values, int num_ranks) { return why_not(shape_of(values), num_ranks); });
  bench.run([peer](State& state, Context& context) {
    if (peer != nullptr) measure(*peer, state, context);
  });
  return bench;
}

}  // namespace tutti::peers
