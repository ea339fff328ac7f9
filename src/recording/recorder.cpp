// SPDX-License-Identifier: Apache-2.0
#include "recording/recorder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.hpp"
#include "base/system/take_fd.hpp"
#include "base/text.hpp"

namespace tutti {

namespace {

// Clocked calls are to take no more than this part of the time of all. One costs its own rank a fifth of a microsecond,
// and where calls are small the others wait longer for it than they spin.
constexpr double kShareOfClock = 0.002;
constexpr double kClockCosts = 2500;  // nanoseconds
constexpr std::uint64_t kLongestStretch = 16384;
constexpr std::uint64_t kAlwaysClocked = 16;  // the first calls of a cell
constexpr double kMostUnusual = 4;            // times as long as usual
constexpr double kLeastUsual = 25;            // nanoseconds
constexpr double kForgets = 8;
constexpr std::size_t kKeyless = 2;  // cells
constexpr std::int64_t kFirstPause = 50'000'000;
constexpr std::int64_t kLongestPause = 5'000'000'000;

// When the last clocked call of this thread ended; 0: another has come since.
thread_local std::int64_t last_end = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a thread's own

const void* this_thread() { return &last_end; }

// All of this process.
class Recorders {
 public:
  static Recorders& of_this_process() {
    // Never destroyed: programs make and destroy communicators until their very end.
    static auto* const recorders = new Recorders();
    return *recorders;
  }
  void add(Recorder& recorder) {
    const std::scoped_lock lock(mutex_);
    all_.push_back(&recorder);
  }
  void remove(const Recorder& recorder) {
    const std::scoped_lock lock(mutex_);
    std::erase(all_, &recorder);
  }
  // Those that this thread has called on.
  void arm() {
    const std::scoped_lock lock(mutex_);
    for (Recorder* const each : all_) each->arm(this_thread());
  }

 private:
  Recorders() {
    // Held across a fork, so that it is free in the child.
    pthread_atfork([] { of_this_process().mutex_.lock(); }, [] { of_this_process().mutex_.unlock(); },
                   [] { of_this_process().mutex_.unlock(); });
    std::atexit([] { of_this_process().write(); });
  }
  void write() {
    const std::scoped_lock lock(mutex_);
    for (Recorder* const each : all_) each->write(true);
  }

  std::mutex mutex_;
  std::vector<Recorder*> all_;
};

std::string new_name() {
  static std::atomic<unsigned> number = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const LogWriter writer = LogWriter::of_this_process();
  return fmt::format("{}.{}.{:x}.{}{}", writer.host, writer.process, now, number.fetch_add(1), kPartSuffix);
}

std::string program_of_this_process() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

// The call lies before the address that it returns to, which may be another function's.
CallSite site_at(std::uint64_t address) {
  Dl_info found{};
  link_map* map = nullptr;
  if (address == 0 ||
      dladdr1(reinterpret_cast<const void*>(address - 1), &found, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) ==
          0 ||
      found.dli_fname == nullptr)
    return {};
  // Of the program itself that would be what it was called, from wherever.
  const bool is_program = map != nullptr && (map->l_name == nullptr || map->l_name[0] == '\0');
  CallSite site{.module = is_program ? program_of_this_process() : found.dli_fname,
                .offset = address - reinterpret_cast<std::uintptr_t>(found.dli_fbase)};
  if (found.dli_sname != nullptr) {
    site.symbol = found.dli_sname;
    site.in_symbol = address - reinterpret_cast<std::uintptr_t>(found.dli_saddr);
  }
  return site;
}

Status cannot_write_part(std::string_view path, int error) {
  return Status::from_errno(fmt::format("cannot write {}", in_quotes(path)), error);
}

// Whoever reads it finds all of it or nothing.
Status write_at_once(const std::string& folder, const std::string& name, std::string_view text, bool makes_folder) {
  if (makes_folder && mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return cannot_write_part(folder, errno);
  const std::string path = folder + "/" + name;
  const std::string draft = folder + "/." + name;
  {
    const UniqueFd file = take_fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file.valid()) return cannot_write_part(path, errno);
    while (!text.empty()) {
      const ssize_t put = ::write(file.get(), text.data(), text.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) {
        const int error = errno;
        unlink(draft.c_str());
        return cannot_write_part(path, error);
      }
      text.remove_prefix(static_cast<std::size_t>(put));
    }
  }
  if (rename(draft.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  unlink(draft.c_str());
  return cannot_write_part(path, error);
}

std::size_t place_of(const Recorder::Key& key, std::size_t places) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  const std::uint64_t mixed = (key.place + key.amount * kGolden) * kGolden;
  return static_cast<std::size_t>(mixed >> 32U) & (places - 1);
}

}  // namespace

void Sampled::take(double value, std::uint64_t calls) {
  value = std::max(value, 0.0);
  if (calls_ == 0) usual_ = value;
  const double usual = std::min(value, std::max(usual_, kLeastUsual) * kMostUnusual);
  usual_ += (usual - usual_) / kForgets;
  sum_ += value + static_cast<double>(calls - 1) * usual;
  calls_ += calls;
}

void Sampled::take_as_is(double value, std::uint64_t calls) {
  sum_ += std::max(value, 0.0) * static_cast<double>(calls);
  calls_ += calls;
}

std::int64_t Recorder::steady_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Recorder::Recorder(Options options)
    : options_(std::move(options)), process_(getpid()), name_(new_name()), cells_(2), places_(64) {
  for (Cell& each : cells_) {
    each.key.place = kNowhere;
    each.owner = this;
  }
  current_ = &cells_.front();
  clock_costs_ = std::numeric_limits<std::int64_t>::max();
  for (int trial = 0; trial < 16; ++trial) {
    const std::int64_t before = options_.clock();
    clock_costs_ = std::min(clock_costs_, options_.clock() - before);
  }
  if (!options_.folder.empty()) Recorders::of_this_process().add(*this);
}

Recorder::~Recorder() {
  if (options_.folder.empty()) return;
  Recorders::of_this_process().remove(*this);
  write(true);
}

Recorder::Cell* Recorder::find(const Key& key) const {
  for (std::size_t place = place_of(key, places_.size());; place = (place + 1) & (places_.size() - 1)) {
    Cell* const cell = places_[place];
    if (cell == nullptr || cell->key == key) return cell;
  }
}

void Recorder::insert(Cell& cell) {
  std::size_t place = place_of(cell.key, places_.size());
  while (places_[place] != nullptr) place = (place + 1) & (places_.size() - 1);
  places_[place] = &cell;
}

Recorder::Cell& Recorder::make(const Key& key) {
  if (cells_.size() >= kMostCells) return cells_.front();
  if (places_.size() < (cells_.size() + 1) * 4) {
    std::vector<Cell*> more(places_.size() * 4);
    places_.swap(more);
    for (std::size_t cell = kKeyless; cell < cells_.size(); ++cell) insert(cells_[cell]);
  }
  CallSite site = site_at(key.place & ((std::uint64_t{1} << kSiteBits) - 1));
  Cell& cell = cells_.emplace_back();
  cell.key = key;
  cell.owner = this;
  cell.site = std::move(site);
  insert(cell);
  return cell;
}

Recorder::Cell& Recorder::cell_of(const Key& key) noexcept {
  if (Cell* const cell = find(key)) return *cell;
  try {
    return make(key);
  } catch (const std::exception&) {
    return cells_.front();
  }
}

Recorder::Cell& Recorder::transfers() { return cells_[1]; }

Recorder::Call Recorder::begin(Cell& cell) noexcept { return begin_at(cell, nullptr); }

Recorder::Call Recorder::begin_late(Cell& cell, std::int64_t start) noexcept { return begin_at(cell, &start); }

Recorder::Call Recorder::begin_at(Cell& cell, const std::int64_t* start) noexcept {
  set_current(cell);
  --left_;
  Call call{.cell = &cell, .is_clocked = left_ <= 0};
  const bool is_armed = armed_.load(std::memory_order_relaxed);
  if (is_armed || call.is_clocked) {
    call.start = start == nullptr ? options_.clock() : *start;
    if (is_armed) {
      armed_.store(false, std::memory_order_relaxed);
      cell.left = left_;
      const std::uint64_t calls = cell.calls();
      if (last_end != 0 && calls > cell.gaps_up_to) {
        take_gap(cell.gaps, call.start, calls - cell.gaps_up_to);
        cell.gaps_up_to = calls;
      }
      // Of the moment before it was asked for, so that the time of taking it is not the call's.
      if (call.is_clocked && start == nullptr) call.start = options_.clock();
    }
    if (user_.load(std::memory_order_relaxed) != this_thread()) user_.store(this_thread(), std::memory_order_relaxed);
  }
  return call;
}

void Recorder::set_current(Cell& cell) {
  current_->left = left_;
  current_ = &cell;
  place_.store(cell.key.place, std::memory_order_relaxed);
  amount_ = cell.key.amount;
  left_ = cell.left;
}

void Recorder::take_gap(Sampled& gaps, std::int64_t now, std::uint64_t calls) {
  gaps.take_as_is(elapsed(last_end, now), calls);
  last_end = 0;
}

double Recorder::elapsed(std::int64_t from, std::int64_t to) const {
  return static_cast<double>(std::max<std::int64_t>(0, to - from - clock_costs_));
}

void Recorder::end_otherwise(const Call& call, bool is_done) noexcept {
  Cell& cell = *call.cell;
  set_current(cell);
  if (!is_done) return take_back();
  const std::int64_t now = options_.clock();
  cell.time.take(elapsed(call.start, now), cell.stretch);
  set_stretch(cell);
  come_to_end(now);
}

void Recorder::set_stretch(Cell& cell) {
  cell.weight = cell.stretch;
  ++cell.clocked;
  std::uint64_t stretch = 1;
  if (cell.clocked >= kAlwaysClocked) {
    const double usual = std::max(cell.time.usual(), 1.0);
    const auto most = static_cast<double>(kLongestStretch);
    stretch = static_cast<std::uint64_t>(std::clamp(kClockCosts / kShareOfClock / usual, 1.0, most));
    // Not in step with the program's loops.
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    stretch = (stretch + 1) / 2 + random_ % stretch;
  }
  cell.stretch = stretch;
  cell.reached += stretch;
  left_ += static_cast<std::int64_t>(stretch);
}

// Of what was clocked: the thread's next call tells how long it has been away.
void Recorder::come_to_end(std::int64_t now) noexcept {
  if (now >= next_write_ && !options_.folder.empty()) {
    write(false);
    now = options_.clock();
    between_writes_ = std::clamp(between_writes_ * 2, kFirstPause, kLongestPause);
    next_write_ = now + between_writes_;
  }
  if (options_.folder.empty()) {
    arm(this_thread());
  } else {
    Recorders::of_this_process().arm();
  }
  last_end = now;
}

std::int64_t Recorder::begin_wait(Cell& cell) noexcept {
  const std::int64_t now = options_.clock();
  if (last_end != 0) take_gap(cell.gaps_before_waits, now, cell.weight);
  return now;
}

void Recorder::end_wait(Cell& cell, std::int64_t start) noexcept {
  const std::int64_t now = options_.clock();
  cell.waits.take(elapsed(start, now), cell.weight);
  come_to_end(now);
}

void Recorder::note_grouped(const Call& call) noexcept {
  ++group_calls_;
  if (!call.is_clocked) return;
  try {
    grouped_.push_back(call.cell);
  } catch (const std::exception&) {
    return;  // its time is that of its begin alone
  }
}

std::int64_t Recorder::begin_group_end() noexcept { return grouped_.empty() ? 0 : options_.clock(); }

void Recorder::end_group(std::int64_t start) noexcept {
  const auto calls = static_cast<double>(std::exchange(group_calls_, 0));
  if (grouped_.empty()) return;
  const std::int64_t now = options_.clock();
  for (Cell* const each : grouped_) each->waits.take(elapsed(start, now) / calls, each->weight);
  grouped_.clear();
  come_to_end(now);
}

Part Recorder::part() const {
  current_->left = left_;
  Part part{.api = options_.api,
            .program = program_of_this_process(),
            .host = LogWriter::of_this_process().host,
            .process = static_cast<std::uint32_t>(process_),
            .ranks = options_.ranks,
            .rank = options_.rank,
            .line = options_.line,
            .transfers = cells_[1].calls(),
            .left_out = cells_[0].calls()};
  constexpr double kMicrosecond = 1000;
  for (std::size_t index = kKeyless; index < cells_.size(); ++index) {
    const Cell& cell = cells_[index];
    if (cell.calls() == 0) continue;
    const std::uint64_t what = cell.key.place >> kSiteBits;
    part.calls.push_back({.collective = static_cast<Collective>(what & 0xFFU),
                          .count = cell.key.amount & kMostCount,
                          .type = static_cast<Type>(what >> 8U),
                          .root = static_cast<std::uint32_t>(cell.key.amount >> kCountBits),
                          .calls = cell.calls(),
                          .time_us = (cell.time.mean() + cell.waits.mean()) / kMicrosecond,
                          .compute_us = (cell.gaps.mean() + cell.gaps_before_waits.mean()) / kMicrosecond,
                          .site = cell.site});
  }
  return part;
}

Status Recorder::write_part(bool is_whole) const {
  Part present = part();
  if (present.calls.empty() && present.transfers == 0 && present.left_out == 0) return {};
  present.is_whole = is_whole;
  // A folder that is gone since was somebody's for a while: whoever has merged it wants no more.
  struct stat found {};
  if (has_written_ && stat(options_.folder.c_str(), &found) != 0 && errno == ENOENT) return {};
  TUTTI_TRY(write_at_once(options_.folder, name_, to_text(present), !has_written_));
  has_written_ = true;
  return {};
}

void Recorder::write(bool is_whole) noexcept {
  // A forked child has a copy of what its parent will write.
  if (process_ != getpid()) return;
  try {
    const Status status = write_part(is_whole);
    if (status.ok() || has_warned_) return;
    has_warned_ = true;
    if (options_.warn) options_.warn(status.message());
  } catch (const std::exception&) {
    // The program goes on without its recording.
    return;
  }
}

}  // namespace tutti
