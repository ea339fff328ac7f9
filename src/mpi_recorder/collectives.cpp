// SPDX-License-Identifier: Apache-2.0
#include "mpi_recorder/collectives.hpp"

#include <algorithm>

#include "mpi_recorder/datatypes.hpp"

namespace tutti::mpi_recorder {

namespace {

// The MPI reports a count below 0; here it is none.
std::uint64_t from_signed(std::int64_t count) { return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)); }

// What is too much for a recorder is its most.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t all = 0;
  return __builtin_mul_overflow(a, b, &all) ? Recorder::kMostCount : std::min(all, Recorder::kMostCount);
}

struct Block {
  Elements elements;
  std::uint64_t count = 0;  // of the elements
};

class Call {
 public:
  Call(const Mpi& mpi, const Shape& shape, const Arguments& arguments, const Member& member)
      : mpi_(mpi), shape_(shape), arguments_(arguments), member_(member) {
    if (shape.root != kNone) root_ = static_cast<std::uint32_t>(std::max(arguments.integer(shape.root), 0));
    const bool is_root = shape.root != kNone && root_ == member.rank;
    const bool asks_root = is_root && shape.count_at_root != kNone;
    count_ = asks_root ? shape.count_at_root : shape.count;
    type_ = asks_root ? shape.type_at_root : shape.type;
    // If there is a root, the others know the size of their own block alone.
    has_list_ = shape.varies && (asks_root || shape.root == kNone);
  }

  [[nodiscard]] std::uint32_t root() const { return root_; }

  [[nodiscard]] Block block() const {
    if (count_ == kNone) return {};
    if (shape_.has_type_list) return {{}, bytes_of_list()};
    const Elements elements = elements_of(mpi_, arguments_.handle(mpi_, Mpi::HandleKind::type, type_));
    std::uint64_t count = 0;
    if (has_list_) {
      for (std::size_t rank = 0; rank < member_.ranks; ++rank) count += arguments_.count_in_list(count_, rank);
    } else {
      count = product(arguments_.count(count_), shape_.varies ? member_.ranks : 1);
    }
    return {elements, count};
  }

 private:
  [[nodiscard]] std::uint64_t bytes_of_list() const {
    std::uint64_t bytes = 0;
    const Word types = arguments_.words[static_cast<std::size_t>(type_)];
    for (std::size_t rank = 0; rank < member_.ranks; ++rank) {
      const std::uint64_t count = arguments_.count_in_list(count_, rank);
      if (count == 0) continue;  // then its type means nothing
      const Handle type = arguments_.is_fortran
                              ? mpi_.from_fortran(Mpi::HandleKind::type, reinterpret_cast<const int*>(types)[rank])
                              : mpi_.handle_at(types, rank);
      bytes += product(count, mpi_.size_of_type(type));
    }
    return bytes;
  }

  const Mpi& mpi_;
  const Shape& shape_;
  const Arguments& arguments_;
  const Member& member_;
  std::uint32_t root_ = 0;
  int count_ = kNone;
  int type_ = kNone;
  bool has_list_ = false;
};

}  // namespace

int Arguments::integer(int at) const {
  const Word word = words[static_cast<std::size_t>(at)];
  return is_fortran ? *reinterpret_cast<const int*>(word) : static_cast<int>(word);
}

Handle Arguments::handle(const Mpi& mpi, Mpi::HandleKind kind, int at) const {
  const Word word = words[static_cast<std::size_t>(at)];
  return is_fortran ? mpi.from_fortran(kind, *reinterpret_cast<const int*>(word)) : mpi.handle(word);
}

std::uint64_t Arguments::count(int at) const {
  const Word word = words[static_cast<std::size_t>(at)];
  return from_signed(has_large_counts ? static_cast<std::int64_t>(word) : integer(at));
}

std::uint64_t Arguments::count_in_list(int at, std::size_t number) const {
  const Word list = words[static_cast<std::size_t>(at)];
  return from_signed(has_large_counts ? reinterpret_cast<const std::int64_t*>(list)[number]
                                      : reinterpret_cast<const int*>(list)[number]);
}

CallKey key_of(const Mpi& mpi, const Shape& shape, const Arguments& arguments, const Member& member, const void* site) {
  const Call call(mpi, shape, arguments, member);
  const Block block = call.block();
  const std::uint64_t count = product(block.count, block.elements.each);
  return {.key = Recorder::key_of(site, shape.collective, block.elements.type, count, call.root()),
          .lasts = block.elements.is_of_mpi};
}

}  // namespace tutti::mpi_recorder
