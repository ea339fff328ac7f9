// SPDX-License-Identifier: Apache-2.0
// The functions of MPI that programs find here in place of the MPI's own: each is recorded, and passed on as it came.
//
// Arguments are integers and pointers, each in a register or a word of the stack of its own, so one type serves all of
// them (mpi.hpp). Of Fortran's functions each argument is a pointer, and the last is to the result.
#include <array>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "mpi_recorder/collectives.hpp"
#include "mpi_recorder/communicators.hpp"
#include "mpi_recorder/mpi.hpp"
#include "mpi_recorder/requests.hpp"

namespace tutti::mpi_recorder {
namespace {

// An MPI may call its own functions, which the program has not called.
thread_local int depth = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a thread's own

struct Deeper {
  Deeper() { ++depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth; }
};

enum class Kind : std::uint8_t { c, c_large, fortran };

constexpr int kNoFunction = 16;  // MPI_ERR_OTHER, or about that: no MPI is there at all

// Whether it has done what it is for.
template <Kind kind, std::size_t n>
int pass_on(void* function, const std::array<Word, n>& words) {
  const Deeper deeper;
  return [&]<std::size_t... at>(std::index_sequence<at...>) {
    if constexpr (kind == Kind::fortran) {
      using Function = void (*)(decltype(Word{at})...);
      reinterpret_cast<Function>(function)(words[at]...);
      return *reinterpret_cast<const int*>(words[n - 1]);
    } else {
      using Function = int (*)(decltype(Word{at})...);
      return reinterpret_cast<Function>(function)(words[at]...);
    }
  }
  (std::make_index_sequence<n>{});
}

template <Kind kind, std::size_t n>
int refuse(const std::array<Word, n>& words) {
  if constexpr (kind == Kind::fortran) *reinterpret_cast<int*>(words[n - 1]) = kNoFunction;
  return kNoFunction;
}

template <Kind kind, std::size_t n>
Arguments arguments_of(const std::array<Word, n>& words) {
  return {.words = words, .is_fortran = kind == Kind::fortran, .has_large_counts = kind == Kind::c_large};
}

// Null where nobody is to know of this call.
const Mpi* mpi_to_record() { return depth == 0 && is_recording() ? Mpi::of_this_process() : nullptr; }

// The handle that a function has set.
template <Kind kind>
Handle handle_behind(const Mpi& mpi, Mpi::Kind what, Word pointer, std::size_t number = 0) {
  if constexpr (kind == Kind::fortran) return mpi.from_fortran(what, reinterpret_cast<const int*>(pointer)[number]);
  return mpi.handle_at(pointer, number);
}

// The last call of this thread that was recorded, as it was passed. One that is like it needs no look at its arguments:
// what they mean stays while `changes` does. Not where several threads may call at once.
struct Again {
  std::uint64_t changes = 0;
  const void* site = nullptr;
  std::array<Word, 6> words{};
  Recorder* recorder = nullptr;
  Recorder::Key key;
};
thread_local Again again;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a thread's own

// Those that say what is called; lists are in memory, which may have changed.
template <const Shape& shape, std::size_t n>
std::array<Word, 6> telling_words(const std::array<Word, n>& words) {
  const auto word = [&](int at) { return at == kNone ? Word{0} : words[static_cast<std::size_t>(at)]; };
  return {word(shape.communicator), word(shape.count),         word(shape.type),
          word(shape.root),         word(shape.count_at_root), word(shape.type_at_root)};
}

// Nothing where it is not recorded.
struct Begun {
  Recorder* recorder = nullptr;
  Recorder::Key key;
  Recorder::Call call;
};
Begun begin(const Mpi& mpi, const Shape& shape, const Arguments& arguments, const void* site) {
  const Member member = member_of(mpi, arguments.handle(mpi, Mpi::Kind::communicator, shape.communicator));
  if (member.recorder == nullptr) return {};
  const Recorder::Key key = key_of(mpi, shape, arguments, member, site);
  const auto lock = lock_recorders(mpi);
  return {.recorder = member.recorder, .key = key, .call = member.recorder->begin(key)};
}

// `request` is where the request's pointer stands, or kNone.
template <Kind kind, const Shape& shape, std::size_t n>
int collective(void* function, int request, const void* site, const std::array<Word, n>& words) {
  constexpr bool kCanBeAgain = kind != Kind::fortran && !shape.varies;
  if (function == nullptr) return refuse<kind>(words);
  if constexpr (kCanBeAgain) {
    if (again.site == site && again.changes == changes.load(std::memory_order_acquire) &&
        again.words == telling_words<shape>(words) && again.recorder->count_again(again.key)) {
      Recorder* const recorder = again.recorder;
      const int result = pass_on<kind>(function, words);
      if (result != 0) recorder->take_back();
      return result;
    }
  }
  const Mpi* const mpi = mpi_to_record();
  if (mpi == nullptr) return pass_on<kind>(function, words);
  const std::uint64_t changes_before = changes.load(std::memory_order_acquire);
  const Begun begun = begin(*mpi, shape, arguments_of<kind>(words), site);
  if (begun.recorder == nullptr) return pass_on<kind>(function, words);
  if (kCanBeAgain && !mpi->has_threads())
    again = {.changes = changes_before,
             .site = site,
             .words = telling_words<shape>(words),
             .recorder = begun.recorder,
             .key = begun.key};
  const int result = pass_on<kind>(function, words);
  const auto lock = lock_recorders(*mpi);
  begun.recorder->end(begun.call, result == 0);
  if (request == kNone || result != 0 || !begun.call.is_clocked) return result;
  try {
    note_request(handle_behind<kind>(*mpi, Mpi::Kind::request, words[static_cast<std::size_t>(request)]),
                 *begun.call.cell);
  } catch (const std::exception&) {
    return result;  // its time is that of its start alone
  }
  return result;
}

// Sends and receives, so many at once.
template <Kind kind, std::size_t n>
int transfer(void* function, int communicator, int number, const std::array<Word, n>& words) {
  if (function == nullptr) return refuse<kind>(words);
  const Mpi* const mpi = mpi_to_record();
  if (mpi == nullptr) return pass_on<kind>(function, words);
  const Member member = member_of(*mpi, arguments_of<kind>(words).handle(*mpi, Mpi::Kind::communicator, communicator));
  for (int each = 0; each < number && member.recorder != nullptr; ++each) {
    const auto lock = lock_recorders(*mpi);
    // Only counted: their times are nobody's.
    member.recorder->end(member.recorder->begin(member.recorder->transfers()), true);
  }
  return pass_on<kind>(function, words);
}

// Waits and tests, of the requests of which the number stands at `number`, or of one.
template <Kind kind, std::size_t n>
int completion(void* function, int number, int requests, const std::array<Word, n>& words) {
  if (function == nullptr) return refuse<kind>(words);
  const Mpi* const mpi = has_open_requests() ? mpi_to_record() : nullptr;
  if (mpi == nullptr) return pass_on<kind>(function, words);
  const Word list = words[static_cast<std::size_t>(requests)];
  const int many = number == kNone ? 1 : arguments_of<kind>(words).integer(number);
  std::vector<Handle> before;
  std::vector<Recorder::Cell*> cells;
  std::vector<std::int64_t> starts;
  try {
    for (int each = 0; each < many; ++each)
      before.push_back(handle_behind<kind>(*mpi, Mpi::Kind::request, list, static_cast<std::size_t>(each)));
    cells = find_requests(before);
    starts.resize(cells.size());
  } catch (const std::exception&) {
    return pass_on<kind>(function, words);
  }
  {
    const auto lock = lock_recorders(*mpi);
    for (std::size_t each = 0; each < cells.size(); ++each)
      if (cells[each] != nullptr) starts[each] = cells[each]->owner->begin_wait(*cells[each]);
  }
  const int result = pass_on<kind>(function, words);
  const auto lock = lock_recorders(*mpi);
  for (std::size_t each = 0; each < cells.size(); ++each) {
    if (cells[each] == nullptr) continue;
    if (handle_behind<kind>(*mpi, Mpi::Kind::request, list, each) == before[each]) continue;  // in progress still
    forget_request(before[each]);
    cells[each]->owner->end_wait(*cells[each], starts[each]);
  }
  return result;
}

// The end of a communicator, which all of its ranks come to.
template <Kind kind, std::size_t n>
int end_of_communicator(void* function, int, const std::array<Word, n>& words) {
  if (function == nullptr) return refuse<kind>(words);
  if (const Mpi* const mpi = mpi_to_record()) forget(handle_behind<kind>(*mpi, Mpi::Kind::communicator, words[0]));
  return pass_on<kind>(function, words);
}

template <Kind kind, std::size_t n>
int end_of_mpi(void* function, int, const std::array<Word, n>& words) {
  if (function == nullptr) return refuse<kind>(words);
  if (depth == 0 && is_recording()) forget_all();
  return pass_on<kind>(function, words);
}

}  // namespace
}  // namespace tutti::mpi_recorder

using tutti::Collective;
using tutti::mpi_recorder::kNone;
using tutti::mpi_recorder::Word;

#include "mpi_recorder/functions.inc"
