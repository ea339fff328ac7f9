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

// Above 0, an MPI calls its own functions, which the program has not called.
thread_local int depth = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a thread's own

struct Deeper {
  Deeper() { ++depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth; }
};

enum class Language : std::uint8_t { c, c_large, fortran };  // c_large: with counts of type MPI_Count

constexpr int kNoFunction = 16;  // no MPI is there at all; MPI_ERR_OTHER in Open MPI

// Calls the MPI's function with the arguments as they came. Its error code; 0 is success.
template <Language language, std::size_t n>
int pass_on(void* function, const std::array<Word, n>& words) {
  const Deeper deeper;
  return [&]<std::size_t... at>(std::index_sequence<at...>) {
    if constexpr (language == Language::fortran) {
      using Function = void (*)(decltype(Word{at})...);
      reinterpret_cast<Function>(function)(words[at]...);
      // In mpi_f08 the result is optional.
      const auto* const failure = reinterpret_cast<const int*>(words[n - 1]);
      return failure == nullptr ? 0 : *failure;
    } else {
      using Function = int (*)(decltype(Word{at})...);
      return reinterpret_cast<Function>(function)(words[at]...);
    }
  }
  (std::make_index_sequence<n>{});
}

template <Language language, std::size_t n>
int refuse(const std::array<Word, n>& words) {
  if constexpr (language == Language::fortran)
    if (words[n - 1] != 0) *reinterpret_cast<int*>(words[n - 1]) = kNoFunction;
  return kNoFunction;
}

template <Language language, std::size_t n>
Arguments arguments_of(const std::array<Word, n>& words) {
  return {
      .words = words, .is_fortran = language == Language::fortran, .has_large_counts = language == Language::c_large};
}

// Null where nobody is to know of this call.
const Mpi* mpi_to_record() { return depth == 0 && is_recording() ? Mpi::of_this_process() : nullptr; }

// The handle that a function has set.
template <Language language>
Handle handle_behind(const Mpi& mpi, Mpi::HandleKind what, Word pointer, std::size_t number = 0) {
  if constexpr (language == Language::fortran)
    return mpi.from_fortran(what, reinterpret_cast<const int*>(pointer)[number]);
  return mpi.handle_at(pointer, number);
}

// The last call of this thread that was recorded, as it was passed. One that is like it needs no look at its arguments.
// It is kept if its type is MPI's own, whose handle stands for nothing else ever, and holds until a communicator is
// freed. Not where several threads may call at once.
struct Again {
  std::uint64_t changes = 0;
  void* function = nullptr;
  const void* site = nullptr;
  std::array<Word, 6> words{};
  Recorder* recorder = nullptr;
  Recorder::Key key;
};
thread_local Again again;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a thread's own

// The arguments that say what is called, but for lists: their contents may change at the same address.
template <const Shape& shape, std::size_t n>
std::array<Word, 6> telling_words(const std::array<Word, n>& words) {
  const auto word = [&](int at) { return at == kNone ? Word{0} : words[static_cast<std::size_t>(at)]; };
  return {word(shape.communicator), word(shape.count),         word(shape.type),
          word(shape.root),         word(shape.count_at_root), word(shape.type_at_root)};
}

// Of a call that has succeeded, so that its handles are valid: a question about others would be an error of the
// program's. Empty where it is not recorded.
struct Counted {
  Recorder* recorder = nullptr;
  CallKey found;
  Recorder::Call call;
};
Counted count(const Mpi& mpi, const Shape& shape, const Arguments& arguments, const void* site, std::int64_t start) {
  const Member member = member_of(mpi, arguments.handle(mpi, Mpi::HandleKind::communicator, shape.communicator));
  if (member.recorder == nullptr) return {};
  const CallKey found = key_of(mpi, shape, arguments, member, site);
  const auto lock = lock_recorders(mpi);
  Counted counted{.recorder = member.recorder, .found = found, .call = {}};
  counted.call = member.recorder->begin_late(member.recorder->cell_of(found.key), start);
  member.recorder->end(counted.call, true);
  return counted;
}

// Of a call that fails, or that an error handler leaves by an exception.
struct TakeBack {
  Recorder* recorder = nullptr;
  explicit TakeBack(Recorder* counting) : recorder(counting) {}
  TakeBack(const TakeBack&) = delete;
  TakeBack& operator=(const TakeBack&) = delete;
  ~TakeBack() {
    if (recorder != nullptr) recorder->take_back();
  }
};

// `request` is where the request's pointer stands, or kNone.
template <Language language, const Shape& shape, std::size_t n>
int collective(void* function, int request, const void* site, const std::array<Word, n>& words) {
  constexpr bool kCanBeAgain = language != Language::fortran && !shape.varies;
  if (function == nullptr) return refuse<language>(words);
  if constexpr (kCanBeAgain) {
    if (depth == 0 && again.site == site && again.function == function &&
        again.changes == changes.load(std::memory_order_acquire) && again.words == telling_words<shape>(words) &&
        again.recorder->count_again(again.key)) {
      Recorder* const recorder = again.recorder;
      TakeBack unless_done{recorder};
      const int result = pass_on<language>(function, words);
      if (result == 0) unless_done.recorder = nullptr;
      if (request != kNone && has_pending_requests())
        forget_request(handle_behind<language>(*Mpi::of_this_process(), Mpi::HandleKind::request,
                                               words[static_cast<std::size_t>(request)]));
      return result;
    }
  }
  if (depth > 0 || !is_recording()) return pass_on<language>(function, words);
  const std::int64_t start = Recorder::steady_clock();
  const int result = pass_on<language>(function, words);
  const Mpi* const mpi = result == 0 ? Mpi::of_this_process() : nullptr;
  if (mpi == nullptr) return result;
  const Counted counted = count(*mpi, shape, arguments_of<language>(words), site, start);
  if (counted.recorder == nullptr) return result;
  if (kCanBeAgain && counted.found.lasts && !mpi->has_threads())
    again = {.changes = changes.load(std::memory_order_acquire),
             .function = function,
             .site = site,
             .words = telling_words<shape>(words),
             .recorder = counted.recorder,
             .key = counted.found.key};
  if (request == kNone) return result;
  const Handle handle =
      handle_behind<language>(*mpi, Mpi::HandleKind::request, words[static_cast<std::size_t>(request)]);
  // One that has ended unseen may have had the same handle.
  if (!counted.call.is_clocked) {
    if (has_pending_requests()) forget_request(handle);
    return result;
  }
  try {
    note_request(handle, *counted.call.cell);
  } catch (const std::exception&) {
    return result;  // its time is that of its start alone
  }
  return result;
}

// `number` sends and receives in one call.
template <Language language, std::size_t n>
int transfer(void* function, int communicator, int number, const std::array<Word, n>& words) {
  if (function == nullptr) return refuse<language>(words);
  if (depth > 0 || !is_recording()) return pass_on<language>(function, words);
  const std::int64_t start = Recorder::steady_clock();
  const int result = pass_on<language>(function, words);
  const Mpi* const mpi = result == 0 ? Mpi::of_this_process() : nullptr;
  if (mpi == nullptr) return result;
  const Arguments arguments = arguments_of<language>(words);
  Recorder* const recorder =
      member_of(*mpi, arguments.handle(*mpi, Mpi::HandleKind::communicator, communicator)).recorder;
  if (recorder == nullptr) return result;
  const auto lock = lock_recorders(*mpi);
  for (int each = 0; each < number; ++each) recorder->end(recorder->begin_late(recorder->transfers(), start), true);
  return result;
}

// Waits and tests of the requests at `requests`. Their number stands at `number`; kNone: it is one.
template <Language language, std::size_t n>
int completion(void* function, int number, int requests, const std::array<Word, n>& words) {
  if (function == nullptr) return refuse<language>(words);
  const Mpi* const mpi = has_pending_requests() ? mpi_to_record() : nullptr;
  if (mpi == nullptr) return pass_on<language>(function, words);
  const Word list = words[static_cast<std::size_t>(requests)];
  const int many = number == kNone ? 1 : arguments_of<language>(words).integer(number);
  std::vector<Handle> before;
  std::vector<std::int64_t> starts;
  try {
    for (int each = 0; each < many; ++each)
      before.push_back(handle_behind<language>(*mpi, Mpi::HandleKind::request, list, static_cast<std::size_t>(each)));
    starts.resize(before.size());
    const auto lock = lock_recorders(*mpi);
    for (std::size_t each = 0; each < before.size(); ++each)
      if (Recorder::Cell* const cell = find_request(before[each])) starts[each] = cell->owner->begin_wait(*cell);
  } catch (const std::exception&) {
    return pass_on<language>(function, words);
  }
  const int result = pass_on<language>(function, words);
  const auto lock = lock_recorders(*mpi);
  for (std::size_t each = 0; each < before.size(); ++each) {
    // Another thread may have freed the communicator meanwhile.
    Recorder::Cell* const cell = starts[each] == 0 ? nullptr : find_request(before[each]);
    const bool is_pending = handle_behind<language>(*mpi, Mpi::HandleKind::request, list, each) == before[each];
    if (cell == nullptr || is_pending) continue;
    forget_request(before[each]);
    cell->owner->end_wait(*cell, starts[each]);
  }
  return result;
}

template <Language language, std::size_t n>
int end_of_mpi(void* function, int, const std::array<Word, n>& words) {
  if (function == nullptr) return refuse<language>(words);
  if (const Mpi* const mpi = mpi_to_record()) forget_all(*mpi);
  return pass_on<language>(function, words);
}

}  // namespace
}  // namespace tutti::mpi_recorder

using tutti::Collective;
using tutti::mpi_recorder::kNone;
using tutti::mpi_recorder::Word;

#include "mpi_recorder/functions.inc"
