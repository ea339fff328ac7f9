// SPDX-License-Identifier: Apache-2.0
#include "device/walk/copies.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "data/collective.hpp"

namespace tutti::device {

namespace {

class Copying {
 public:
  Copying(const Schedule& schedule, const WordPrograms& words) : schedule_(schedule), words_(words) {}

  Result<CopyPrograms> run() {
    // Even of one rank: its input may be multiplied.
    if (facts_of(schedule_.collective).folds) return refuse("it folds");
    if (!words_.by_name || words_.scratch_blocks > 0) return refuse("it copies by way of slots or scratch");
    for (const WordProgram& program : words_.ranks) made_first_.push_back(posts_made_first(program));
    CopyPrograms programs;
    for (const WordProgram& program : words_.ranks) {
      TUTTI_TRY_ASSIGN(CopyProgram copies, copies_of(program));
      programs.push_back(std::move(copies));
    }
    return programs;
  }

 private:
  [[nodiscard]] Status refuse(const std::string& reason) const {
    return {Code::unsupported, fmt::format("copy engines cannot do {}: {}", schedule_.name, reason)};
  }

  // How many posts a rank makes before it copies anything. These are made when the ranks have met.
  static std::uint32_t posts_made_first(const WordProgram& program) {
    std::uint32_t posts = 0;
    for (const WordStep& step : program.steps) {
      if (step.kind == WordKind::combine || step.kind == WordKind::expose) break;
      if (step.kind == WordKind::name || step.kind == WordKind::signal) posts = std::max(posts, step.post + 1);
    }
    return posts;
  }

  [[nodiscard]] Result<CopyProgram> copies_of(const WordProgram& program) const {
    std::size_t behind_last = program.steps.size();
    while (behind_last > 0 && program.steps[behind_last - 1].kind != WordKind::combine) --behind_last;
    CopyProgram copies;
    bool has_closed = false;
    for (std::size_t at = 0; at < behind_last; ++at) {
      const WordStep& step = program.steps[at];
      has_closed = has_closed || step.kind == WordKind::close;
      if (step.kind == WordKind::wait || step.kind == WordKind::combine) TUTTI_TRY(check_posts(program, step));
      if (step.kind != WordKind::combine) continue;
      if (step.num_sources != 1) return refuse("a step has several sources");
      const WordEnd& source = program.ends[step.first_end];
      for (std::uint32_t each = 0; each < step.num_destinations; ++each) {
        const WordEnd& destination = program.ends[step.first_end + 1 + each];
        TUTTI_TRY(check_ends(source, destination, has_closed));
        (has_closed ? copies.behind : copies.between)
            .push_back({source, destination, step.first_piece, step.num_pieces});
      }
    }
    return copies;
  }

  [[nodiscard]] Status check_ends(const WordEnd& source, const WordEnd& destination, bool has_closed) const {
    // If ranks do not meet, the copies run nevertheless, and must not harm the memory of others.
    if (destination.is_remote) return refuse("it stores into the buffers of other ranks");
    if (!source.is_remote) return {};
    if (has_closed) return refuse("it reaches other ranks when it has waited for all of them");
    if (source.base == WordBase::input && facts_of(schedule_.collective).has_root)
      return refuse("ranks other than the root have no input, and cannot tell where the root's is");
    return {};
  }

  // All that this step waits for is done when the ranks have met.
  [[nodiscard]] Status check_posts(const WordProgram& program, const WordStep& step) const {
    for (std::uint32_t each = 0; each < std::uint32_t{step.num_sources} + step.num_destinations; ++each) {
      const WordEnd& end = program.ends[step.first_end + each];
      const std::uint32_t post = step.kind == WordKind::wait ? step.post : end.post;
      if (end.is_remote && post >= made_first_[end.rank]) return refuse("a copy waits for another rank's copy");
    }
    return {};
  }

  const Schedule& schedule_;
  const WordPrograms& words_;
  std::vector<std::uint32_t> made_first_;  // by rank
};

}  // namespace

Result<CopyPrograms> make_copy_programs(const Schedule& schedule, const WordPrograms& words) {
  return Copying(schedule, words).run();
}

CopyRange range_of(const Copy& copy, std::uint64_t count, std::uint64_t piece, std::uint32_t element) {
  const std::uint64_t begin = std::min(count, copy.first_piece * piece);
  const std::uint64_t end = std::min(count, (copy.first_piece + std::uint64_t{copy.num_pieces}) * piece);
  return {begin * element, (end - begin) * element};
}

}  // namespace tutti::device
