// SPDX-License-Identifier: Apache-2.0
// What is called of libpmix, which is opened while the program runs: it is there where its launcher is, and Tutti does
// without it elsewhere. The types are those of the PMIx standard; a test compares them with pmix.h where that is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "base/status.hpp"

namespace tutti::start::pmix {

inline constexpr int kSuccess = 0;
inline constexpr int kNotFound = -46;
inline constexpr int kTimeout = -24;

inline constexpr std::uint16_t kBool = 1;
inline constexpr std::uint16_t kString = 3;
inline constexpr std::uint16_t kUint32 = 14;
inline constexpr std::uint8_t kGlobal = 3;
inline constexpr std::uint32_t kAllRanks = UINT32_MAX - 1;

inline constexpr char kJobSize[] = "pmix.job.size";
inline constexpr char kLocalSize[] = "pmix.local.size";
inline constexpr char kImmediate[] = "pmix.immediate";

struct Proc {
  std::array<char, 256> nspace{};
  std::uint32_t rank = 0;
};

struct Value {
  std::uint16_t type = 0;
  union {
    bool flag;
    std::uint32_t uint32;
    char* string;
    std::array<void*, 3> room;  // as large as the largest that there is
  } data{.room = {}};
};

struct Info {
  std::array<char, 512> key{};
  std::uint32_t flags = 0;
  Value value;
};

// Called once, by a thread of the library, to which the value belongs.
using Answer = void (*)(int code, Value*, void* asked);

struct Library {
  int (*init)(Proc*, Info*, std::size_t) = nullptr;
  int (*finalize)(const Info*, std::size_t) = nullptr;
  int (*put)(std::uint8_t scope, const char* key, Value*) = nullptr;
  int (*commit)() = nullptr;
  int (*get)(const Proc*, const char* key, const Info*, std::size_t, Value**) = nullptr;
  int (*get_later)(const Proc*, const char* key, const Info*, std::size_t, Answer, void* asked) = nullptr;
  const char* (*error_string)(int) = nullptr;

  // Code::unsupported where it cannot be opened.
  [[nodiscard]] static Result<Library> open();
};

}  // namespace tutti::start::pmix
