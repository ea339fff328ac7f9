#include "peers/peer.hpp"

#include <array>

#include "base/text.hpp"
#include "peers/collectives.hpp"

namespace tutti::peers {

namespace {

struct Row {
  std::string_view name;
  bool has_blocks;
  bool reduces;
  bool has_root = false;
};
// In the order of the enumeration.
constexpr std::array<Row, kNumCollectives> kRows = {{{"all_reduce", false, true},
                                                     {"all_gather", true, false},
                                                     {"reduce_scatter", true, true},
                                                     {"broadcast", false, false, true},
                                                     {"reduce", false, true, true},
                                                     {"all_to_all", true, false},
                                                     {"gather", true, false, true},
                                                     {"scatter", true, false, true},
                                                     {"scan", false, true},
                                                     {"exclusive_scan", false, true},
                                                     {"barrier", false, false}}};

const Row& row_of(Collective collective) { return kRows[static_cast<std::size_t>(collective)]; }

}  // namespace

std::string_view name_of(Collective collective) { return row_of(collective).name; }
std::optional<Collective> collective_from_name(std::string_view name) {
  for (std::size_t each = 0; each < kRows.size(); ++each)
    if (same_name(kRows[each].name, name)) return static_cast<Collective>(each);
  return std::nullopt;
}
bool has_blocks(Collective collective) { return row_of(collective).has_blocks; }
bool reduces(Collective collective) { return row_of(collective).reduces; }
bool has_root(Collective collective) { return row_of(collective).has_root; }

BufferBytes bytes_of_buffers(const Request& request, int num_ranks) {
  if (request.collective == Collective::barrier) return {};
  const std::size_t block = request.count * size_of(request.type);
  const std::size_t all = has_blocks(request.collective) ? block * static_cast<std::size_t>(num_ranks) : block;
  const auto is = [&](Collective one, Collective other) {
    return request.collective == one || request.collective == other;
  };
  return {.input = is(Collective::all_gather, Collective::gather) ? block : all,
          .output = is(Collective::reduce_scatter, Collective::scatter) ? block : all};
}

Status unsupported(std::string reason) { return {Code::unsupported, std::move(reason)}; }

int run_worker(Peer& peer, const Environment& environment) {
  return harness::run_worker(collective_benches(&peer), peer, environment);
}

}  // namespace tutti::peers
