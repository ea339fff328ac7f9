// SPDX-License-Identifier: Apache-2.0
// How the channels of all ranks tell each other how far they are: posts, rounds that are done, and where buffers lie.
// Each writes into the inboxes of the others, so that whoever waits looks into its own memory. All threads of a channel
// call these functions together, except await_post and buffer. Whoever has waited for a post sees everything that the
// channel wrote before it.
//
// A Platform has thread(), num_threads(), channel(), num_channels(), sync(), all(bool) (whether it is true of all
// threads, after a sync), load_acquire and store_release of 64-bit words that other ranks use, load_host of a word that
// the host writes, claim(word) (true for the first), relax() between two looks, store_host, and now() in nanoseconds.
#pragma once

#include "device/walk/words.hpp"

namespace tutti::device {

template <class Platform>
class Flags {
 public:
  TUTTI_ON_DEVICE Flags(Platform& platform, const WalkCall& call)
      : platform_(platform),
        call_(call),
        posts_(call.state[platform.channel()].posts),
        rounds_(call.state[platform.channel()].rounds),
        inbox_(call.peers[call.rank].inbox + std::uint64_t{platform.channel()} * call.num_ranks),
        base_(call.peers[call.rank].base),
        // Looked up once, since memory is slow; where there are fewer threads than ranks, the others each time.
        first_entry_(platform.thread() < call.num_ranks ? &find_entry(platform.thread()) : nullptr) {}

  // After a call that failed: what peers were told no longer fits what this rank counts, so nothing is told any more.
  [[nodiscard]] TUTTI_ON_DEVICE bool is_broken() const { return posts_ == kBroken; }
  TUTTI_ON_DEVICE void give_up() {
    if (platform_.thread() == 0) call_.state[platform_.channel()] = {kBroken, kBroken};
  }

  // Rounds of this channel, through all calls.
  [[nodiscard]] TUTTI_ON_DEVICE std::uint64_t rounds() const { return rounds_; }

  TUTTI_ON_DEVICE void end_round() {
    posts_ += call_.posts_per_round;
    ++rounds_;
  }
  // Of a call: keeps what was counted.
  TUTTI_ON_DEVICE void end() {
    platform_.sync();
    if (platform_.thread() == 0) call_.state[platform_.channel()] = {posts_, rounds_};
  }

  // Makes posts up to number `post` of this round, with where the buffers lie where `by_name`.
  TUTTI_ON_DEVICE void post(std::uint32_t post, bool by_name) {
    platform_.sync();
    const std::uint64_t value = ((posts_ + post + 1) << kDigestBits) | call_.digest;
    for (std::uint32_t rank = platform_.thread(); rank < call_.num_ranks; rank += platform_.num_threads()) {
      Entry& entry = own_entry(rank);
      if (by_name) {
        entry.input = place_for(rank, call_.input, call_.input_views);
        entry.output = place_for(rank, call_.output, call_.output_views);
      }
      platform_.store_release(&entry.posted, value);
    }
  }

  TUTTI_ON_DEVICE void finish() {
    platform_.sync();
    say_done();
  }
  // Only directly after post(), which synchronises threads: nothing of other ranks may be accessed in between.
  TUTTI_ON_DEVICE void say_done() {
    for (std::uint32_t rank = platform_.thread(); rank < call_.num_ranks; rank += platform_.num_threads())
      platform_.store_release(&own_entry(rank).done, rounds_ + 1);
  }

  // Called by one thread. Waits for the post of `rank` in this round. False: waiting failed, and the call ends.
  [[nodiscard]] TUTTI_ON_DEVICE bool await_post(std::uint32_t rank, std::uint32_t post) {
    return await(&inbox_[rank].posted, (posts_ + post + 1) << kDigestBits, rank, post);
  }

  // Of all ranks, by all threads.
  [[nodiscard]] TUTTI_ON_DEVICE bool await_posts(std::uint32_t post) {
    bool is_there = true;
    for (std::uint32_t rank = platform_.thread(); rank < call_.num_ranks; rank += platform_.num_threads())
      is_there = is_there && await_post(rank, post);
    return platform_.all(is_there);
  }
  // Until every rank is done with this channel's first `rounds` rounds.
  [[nodiscard]] TUTTI_ON_DEVICE bool await_done(std::uint64_t rounds) {
    bool is_there = true;
    for (std::uint32_t rank = platform_.thread(); rank < call_.num_ranks; rank += platform_.num_threads())
      is_there = is_there && await(&inbox_[rank].done, rounds, rank, kNoPost);
    return platform_.all(is_there);
  }

  // What `rank` has said of its buffers with a post that was waited for.
  [[nodiscard]] TUTTI_ON_DEVICE std::byte* buffer(std::uint32_t rank, WordBase base) const {
    const Entry& entry = inbox_[rank];
    return reinterpret_cast<std::byte*>(call_.peers[rank].base +  // NOLINT(performance-no-int-to-ptr)
                                        (base == WordBase::input ? entry.input : entry.output));
  }

 private:
  // Where `rank` finds a buffer of this one.
  TUTTI_ON_DEVICE std::uint64_t place_for(std::uint32_t rank, const std::byte* buffer,
                                          const std::uint64_t* views) const {
    const std::uint64_t place = reinterpret_cast<std::uintptr_t>(buffer) - base_;
    return views == nullptr ? place : place + views[rank];
  }
  // This rank's in the inbox of another.
  TUTTI_ON_DEVICE Entry& own_entry(std::uint32_t rank) const {
    return rank == platform_.thread() ? *first_entry_ : find_entry(rank);
  }
  TUTTI_ON_DEVICE Entry& find_entry(std::uint32_t rank) const {
    return call_.peers[rank].inbox[std::uint64_t{platform_.channel()} * call_.num_ranks + call_.rank];
  }

  TUTTI_ON_DEVICE bool await(const std::uint64_t* word, std::uint64_t least, std::uint32_t rank, std::uint32_t post) {
    constexpr std::uint32_t kBetweenClocks = 1024;
    Patience patience;
    for (std::uint32_t looks = 1;; ++looks) {
      const std::uint64_t value = platform_.load_acquire(word);
      if (post != kNoPost && is_of_another_call(value)) {
        fail(Trouble::mismatch, rank, post);
        return false;
      }
      if (value >= least) return true;
      platform_.relax();
      if (looks % kBetweenClocks == 0 && !may_go_on(patience, rank, post)) return false;
    }
  }
  // A post of this round, by its number, with another digest. Later ones may be of other calls.
  [[nodiscard]] TUTTI_ON_DEVICE bool is_of_another_call(std::uint64_t value) const {
    const std::uint64_t number = value >> kDigestBits;
    return number > posts_ && number - posts_ <= call_.posts_per_round && (value & kDigestMask) != call_.digest;
  }

  struct Patience {
    std::uint64_t deadline = 0;
    bool has_left = false;  // the rank that is waited for; a last look at what it had posted comes behind
  };
  TUTTI_ON_DEVICE bool may_go_on(Patience& patience, std::uint32_t rank, std::uint32_t post) {
    if (platform_.load_host(&call_.failure->claimed) != 0) return false;
    if (platform_.load_host(&call_.failure->abort) != 0) {
      fail(Trouble::aborted, rank, post);
      return false;
    }
    if (patience.has_left) {
      fail(Trouble::left, rank, post);
      return false;
    }
    patience.has_left = (platform_.load_host(&call_.failure->left[rank / 32]) >> rank % 32 & 1U) != 0;
    if (call_.timeout == 0) return true;
    const std::uint64_t now = platform_.now();
    if (patience.deadline == 0) patience.deadline = now + call_.timeout;
    if (now < patience.deadline) return true;
    fail(Trouble::timeout, rank, post);
    return false;
  }

  TUTTI_ON_DEVICE void fail(Trouble trouble, std::uint32_t rank, std::uint32_t post) {
    Failure& failure = *call_.failure;
    if (!platform_.claim(&failure.claimed)) return;
    failure.rank = rank;
    failure.post = post;
    failure.channel = platform_.channel();
    platform_.store_host(&failure.trouble, static_cast<std::uint32_t>(trouble));
  }

  static constexpr std::uint64_t kBroken = UINT64_MAX;

  Platform& platform_;
  const WalkCall& call_;
  std::uint64_t posts_;
  std::uint64_t rounds_;
  Entry* inbox_;
  std::uint64_t base_;
  Entry* first_entry_;
};

}  // namespace tutti::device
