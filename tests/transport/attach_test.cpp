// SPDX-License-Identifier: Apache-2.0
// Reading and writing another process's memory, with this process as the other: who is said to be at fault.
#include "transport/shm/attach.hpp"

#include <array>
#include <csignal>
#include <cstddef>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::shm {
namespace {

constexpr std::size_t kPage = 4096;

// Two pages; the second one with such a protection.
class Pages {
 public:
  explicit Pages(int protection) {
    void* const start = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(start, MAP_FAILED);
    bytes_ = static_cast<std::byte*>(start);
    EXPECT_EQ(mprotect(bytes_ + kPage, kPage, protection), 0);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(bytes_, 2 * kPage); }
  [[nodiscard]] std::byte* get() const { return bytes_; }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes_); }

 private:
  std::byte* bytes_ = nullptr;
};

TEST(Attach, TellsWhichEndIsAtFault) {
  const Pages right(PROT_READ | PROT_WRITE);
  const Pages other(PROT_READ | PROT_WRITE);
  const Pages read_only(PROT_READ);
  const Pages closed(PROT_NONE);
  if (read_from(getpid(), right.address(), read_only.get(), 1) != AttachEnd::done) GTEST_SKIP() << "may not attach";
  right.get()[kPage + 1] = std::byte{7};
  EXPECT_EQ(write_to(getpid(), other.address(), right.get(), 2 * kPage), AttachEnd::done);
  EXPECT_EQ(other.get()[kPage + 1], std::byte{7});
  EXPECT_EQ(write_to(getpid(), other.address(), closed.get(), 2 * kPage), AttachEnd::own_closed);
  EXPECT_EQ(write_to(getpid(), closed.address(), right.get(), 2 * kPage), AttachEnd::theirs_closed);
  // That it can be read does not help it.
  EXPECT_EQ(write_to(getpid(), read_only.address(), right.get(), 2 * kPage), AttachEnd::theirs_closed);
  EXPECT_EQ(read_from(getpid(), read_only.address(), right.get(), 2 * kPage), AttachEnd::done);
  EXPECT_EQ(right.get()[kPage + 1], std::byte{0});
  EXPECT_EQ(read_from(getpid(), right.address(), read_only.get(), 2 * kPage), AttachEnd::own_closed);
  EXPECT_EQ(read_from(getpid(), closed.address(), right.get(), 2 * kPage), AttachEnd::theirs_closed);
}

TEST(Attach, TellsThatAProcessIsGone) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(read_from(child, reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.data(), 8), AttachEnd::gone);
  EXPECT_EQ(write_to(child, reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.data(), 8), AttachEnd::gone);
}

TEST(Attach, NamesWhoIsAtFault) {
  for (const Access access : {Access::read, Access::write}) {
    EXPECT_EQ(breakage_of(AttachEnd::own_closed, access, 2, 5).rank, 2U);
    EXPECT_EQ(breakage_of(AttachEnd::theirs_closed, access, 2, 5).rank, 5U);
    EXPECT_EQ(breakage_of(AttachEnd::gone, access, 2, 5).code, Code::rank_lost);
  }
  EXPECT_EQ(breakage_of(AttachEnd::own_closed, Access::read, 2, 5).words, "rank 2 cannot write to its own buffer");
  EXPECT_EQ(breakage_of(AttachEnd::own_closed, Access::write, 2, 5).words, "rank 2 cannot read its own buffer");
  EXPECT_EQ(
      breakage_of(AttachEnd::theirs_closed, Access::write, 2, 5).words.find("the buffer of rank 5 cannot be written"),
      0U);
}

}  // namespace
}  // namespace tutti::shm
