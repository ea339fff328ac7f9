#include "schedule/happens_before.hpp"

#include <algorithm>

namespace tutti {

void Clock::join(const Moment& moment) {
  // Knowing a lane's moment is knowing all that the lane knew then.
  if (knows(moment.lane, moment.time)) return;
  if (known_ == nullptr) {
    known_ = moment.known == nullptr ? std::make_shared<std::vector<std::uint32_t>>(num_lanes_)
                                     : std::make_shared<std::vector<std::uint32_t>>(*moment.known);
  } else {
    if (known_.use_count() > 1) known_ = std::make_shared<std::vector<std::uint32_t>>(*known_);
    if (moment.known != nullptr) {
      std::vector<std::uint32_t>& mine = *known_;
      const std::vector<std::uint32_t>& theirs = *moment.known;
      for (std::size_t lane = 0; lane < mine.size(); ++lane) mine[lane] = std::max(mine[lane], theirs[lane]);
    }
  }
  (*known_)[moment.lane] = std::max((*known_)[moment.lane], moment.time);
}

std::optional<Access> AccessHistory::read(const Clock& clock, Access access) {
  if (!clock.knows(write_.lane, write_.time)) return write_;
  if (clock.knows(read_.lane, read_.time)) {
    read_ = access;
  } else {
    std::erase_if(reads_, [&](const Access& old) { return clock.knows(old.lane, old.time); });
    reads_.push_back(access);
  }
  return std::nullopt;
}

std::optional<Access> AccessHistory::write(const Clock& clock, Access access) {
  if (!clock.knows(write_.lane, write_.time)) return write_;
  if (!clock.knows(read_.lane, read_.time)) return read_;
  for (const Access& old : reads_)
    if (!clock.knows(old.lane, old.time)) return old;
  reads_.clear();
  write_ = access;
  read_ = access;
  return std::nullopt;
}

}  // namespace tutti
