// SPDX-License-Identifier: Apache-2.0
// libnccl-tuner-tutti.so: what NCCL calls. Nothing that goes wrong here may fail a program, since NCCL can always
// choose by itself; so all functions succeed, and no exception leaves them.
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <optional>

#include "nccl_tuner/interface.hpp"
#include "nccl_tuner/tuner.hpp"

namespace tutti::nccl_tuner {

namespace {

constexpr const char* kName = "Tutti";

int init(std::size_t ranks, std::size_t nodes, LogFunction log, Context* context) noexcept {
  try {
    *context = new Tuner({.ranks = ranks, .nodes = nodes, .log = log, .file = std::getenv("NCCL_TUNER_CONFIG_FILE")});
  } catch (const std::exception&) {
    *context = nullptr;  // no memory: NCCL chooses
  }
  return kSuccess;
}

int init_with_constants(Context* context, std::uint64_t, std::size_t ranks, std::size_t nodes, LogFunction log, void*,
                        void*) noexcept {
  return init(ranks, nodes, log, context);
}

int destroy(Context context) noexcept {
  const auto* const tuner = static_cast<const Tuner*>(context);
  if (tuner == nullptr) return kSuccess;
  try {
    tuner->report();
  } catch (const std::exception&) {  // no memory for the words
  }
  delete tuner;
  return kSuccess;
}

// Null where no line is for the call.
template <typename CanDo>
const Line* line_for(Context context, const Call& call, const CanDo& can_do) noexcept {
  auto* const tuner = static_cast<Tuner*>(context);
  return tuner == nullptr ? nullptr : tuner->choose(call, can_do);
}

// The chosen cell becomes the cheapest. All other cells, and everything where no line is for the call, stay as they
// are.
int choose_by_cost(Context context, const Call& call, Costs costs, int algorithms, int protocols,
                   int* channels) noexcept {
  auto* const cells = reinterpret_cast<float*>(costs);
  const auto cell_of = [&](const Line& line) {
    const auto row = static_cast<std::ptrdiff_t>(line.algorithm);
    return cells + row * protocols + static_cast<std::ptrdiff_t>(line.protocol);
  };
  const Line* const line = line_for(context, call, [&](const Line& each) {
    return static_cast<int>(each.algorithm) < algorithms && static_cast<int>(each.protocol) < protocols &&
           *cell_of(each) >= 0;
  });
  if (line == nullptr) return kSuccess;
  *cell_of(*line) = kChosenCost;
  if (line->channels > 0) *channels = line->channels;
  return kSuccess;
}

// Version 2 has no costs that would tell. NCCL's releases with that version take what they are given.
bool can_do_untold(const Line& line, bool is_one_node, bool has_collnet, bool has_nvls) {
  const bool is_all_reduce = line.function == Function::all_reduce;
  const bool is_fan = line.function == Function::broadcast || line.function == Function::reduce;
  const bool is_simple = line.protocol == Protocol::simple;
  // Right only between devices that NCCL has checked, and it does not say which.
  if (line.protocol == Protocol::ll128) return false;
  switch (line.algorithm) {
    case Algorithm::ring: return true;
    case Algorithm::tree: return is_all_reduce;
    case Algorithm::collnet_direct: return has_collnet && is_simple && !is_fan;
    case Algorithm::collnet_chain: return has_collnet && is_simple && is_all_reduce;
    case Algorithm::nvls: return has_nvls && is_simple && !is_fan && (is_one_node || has_collnet);
    case Algorithm::nvls_tree: return has_nvls && is_simple && is_all_reduce && !is_one_node;
    case Algorithm::pat: return false;
  }
  return false;
}

int choose_v2(Context context, int function, std::size_t bytes, int has_collnet, int has_nvls, int operations,
              int* algorithm, int* protocol, int* channels) noexcept {
  const auto* const tuner = static_cast<const Tuner*>(context);
  const bool is_one_node = tuner != nullptr && tuner->nodes() == 1;
  const Line* const line =
      line_for(context, {.function = static_cast<Function>(function), .bytes = bytes, .operations = operations},
               [&](const Line& each) { return can_do_untold(each, is_one_node, has_collnet != 0, has_nvls != 0); });
  if (line == nullptr) return kSuccess;
  *algorithm = static_cast<int>(line->algorithm);
  *protocol = static_cast<int>(line->protocol);
  if (line->channels > 0) *channels = line->channels;
  return kSuccess;
}

int choose_v3(Context context, int function, std::size_t bytes, int operations, Costs costs, int algorithms,
              int protocols, int* channels) noexcept {
  return choose_by_cost(context,
                        {.function = static_cast<Function>(function), .bytes = bytes, .operations = operations}, costs,
                        algorithms, protocols, channels);
}

int choose_v4(Context context, int function, std::size_t bytes, int operations, Costs costs, int algorithms,
              int protocols, int is_registered, int* channels) noexcept {
  return choose_by_cost(context,
                        {.function = static_cast<Function>(function),
                         .bytes = bytes,
                         .operations = operations,
                         .is_registered = is_registered != 0},
                        costs, algorithms, protocols, channels);
}

constexpr TunerV5 kV5{.name = kName, .init = init_with_constants, .choose = choose_v4, .destroy = destroy};

}  // namespace

}  // namespace tutti::nccl_tuner

// The names are NCCL's.
// NOLINTBEGIN(readability-identifier-naming)
#define TUTTI_SHOWN extern "C" __attribute__((visibility("default"))) const

TUTTI_SHOWN tutti::nccl_tuner::TunerV2 ncclTunerPlugin_v2{.name = tutti::nccl_tuner::kName,
                                                          .init = tutti::nccl_tuner::init,
                                                          .choose = tutti::nccl_tuner::choose_v2,
                                                          .destroy = tutti::nccl_tuner::destroy};
TUTTI_SHOWN tutti::nccl_tuner::TunerV3 ncclTunerPlugin_v3{.name = tutti::nccl_tuner::kName,
                                                          .init = tutti::nccl_tuner::init,
                                                          .choose = tutti::nccl_tuner::choose_v3,
                                                          .destroy = tutti::nccl_tuner::destroy};
TUTTI_SHOWN tutti::nccl_tuner::TunerV4 ncclTunerPlugin_v4{.name = tutti::nccl_tuner::kName,
                                                          .init = tutti::nccl_tuner::init,
                                                          .choose = tutti::nccl_tuner::choose_v4,
                                                          .destroy = tutti::nccl_tuner::destroy};
TUTTI_SHOWN tutti::nccl_tuner::TunerV5 ncclTunerPlugin_v5{tutti::nccl_tuner::kV5};
TUTTI_SHOWN tutti::nccl_tuner::TunerV6 ncclTunerPlugin_v6{.v5 = tutti::nccl_tuner::kV5, .choose_chunk = nullptr};
// NOLINTEND(readability-identifier-naming)
