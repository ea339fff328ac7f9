// SPDX-License-Identifier: Apache-2.0
// Element types and buffers. A buffer is anything with std::data and std::size (std::vector, std::array, std::span, an
// array, SymmetricMemory), elements(pointer, count), or one(value).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include <tutti/cpp/error.hpp>
#include <tutti/tutti.h>

namespace tutti {
inline namespace v0_1 {

// Small floating-point numbers as bits: Tutti computes with them, C++17 does not.
struct Float16 {
  std::uint16_t bits = 0;
};
struct Bfloat16 {
  std::uint16_t bits = 0;
};
struct Float8e4m3 {
  std::uint8_t bits = 0;
};
struct Float8e5m2 {
  std::uint8_t bits = 0;
};

// The data type of elements of type T. For your own type with the bits of one of Tutti's types, name that type:
//   template <> struct tutti::DataType<MyHalf> : tutti::DataTypeIs<tuttiFloat16> {};
template <tuttiDataType_t type>
using DataTypeIs = std::integral_constant<tuttiDataType_t, type>;

template <typename T, typename Enable = void>
struct DataType;

namespace detail {

// Signed and unsigned of each size stand side by side, so that `long` and `long long` need no rows.
template <std::size_t bytes>
struct Integers;
template <>
struct Integers<1> : std::pair<DataTypeIs<tuttiInt8>, DataTypeIs<tuttiUint8>> {};
template <>
struct Integers<2> : std::pair<DataTypeIs<tuttiInt16>, DataTypeIs<tuttiUint16>> {};
template <>
struct Integers<4> : std::pair<DataTypeIs<tuttiInt32>, DataTypeIs<tuttiUint32>> {};
template <>
struct Integers<8> : std::pair<DataTypeIs<tuttiInt64>, DataTypeIs<tuttiUint64>> {};

template <typename T>
using IntegerType = std::conditional_t<std::is_signed_v<T>, typename Integers<sizeof(T)>::first_type,
                                       typename Integers<sizeof(T)>::second_type>;

}  // namespace detail

template <typename T>
struct DataType<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> : detail::IntegerType<T> {};
template <>
struct DataType<std::byte> : DataTypeIs<tuttiUint8> {};
template <>
struct DataType<float> : DataTypeIs<tuttiFloat32> {};
template <>
struct DataType<double> : DataTypeIs<tuttiFloat64> {};
template <>
struct DataType<Float16> : DataTypeIs<tuttiFloat16> {};
template <>
struct DataType<Bfloat16> : DataTypeIs<tuttiBfloat16> {};
template <>
struct DataType<Float8e4m3> : DataTypeIs<tuttiFloat8e4m3> {};
template <>
struct DataType<Float8e5m2> : DataTypeIs<tuttiFloat8e5m2> {};

// A view of elements, like std::span, which C++17 lacks.
template <typename T>
class View {
 public:
  View(T* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  T* data_;
  std::size_t size_;
};

template <typename T>
[[nodiscard]] View<T> elements(T* data, std::size_t count) {
  return {data, count};
}
template <typename T>
[[nodiscard]] View<T> one(T& value) {
  return {&value, 1};
}

namespace detail {

template <typename T, typename Enable = void>
struct HasDataType : std::false_type {};
template <typename T>
struct HasDataType<T, std::void_t<decltype(DataType<T>::value)>> : std::true_type {};

// With what constness the range gives it.
template <typename Range>
using Given = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>;
template <typename Range>
using Element = std::remove_cv_t<Given<Range>>;

template <typename T>
constexpr tuttiDataType_t data_type() {
  static_assert(HasDataType<T>::value,
                "elements are integers, std::byte, float, double, tutti::Float16 and its like, or what "
                "tutti::DataType is specialised for");
  static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");
  return DataType<T>::value;
}

struct Input {
  const void* data;
  std::size_t count;
  tuttiDataType_t type;
};
struct Output {
  void* data;
  std::size_t count;
  tuttiDataType_t type;
};
// One of each. What `count` counts is the collective's affair.
struct Buffers {
  const void* input;
  void* output;
  std::size_t count;
  tuttiDataType_t type;
  // The message for wrong sizes: one of the two has `has` elements instead of `needs`.
  const char* misfit = nullptr;
  std::size_t has = 0;
  std::size_t needs = 0;

  void expect(const char* which, std::size_t actual, std::size_t right) {
    if (actual == right || misfit != nullptr) return;
    misfit = which;
    has = actual;
    needs = right;
  }
  void check(const char* what) const {
    if (misfit != nullptr)
      refuse(what, std::string("the ") + misfit + " has " + std::to_string(has) + " elements, and " +
                       std::to_string(needs) + " would be right");
  }
};

template <typename Range>
Input input(const Range& range) {
  return {std::data(range), std::size(range), data_type<Element<const Range>>()};
}

template <typename Range>
Output output(Range& range) {
  static_assert(!std::is_const_v<Given<Range>>, "an output is written to: its elements must not be const");
  return {std::data(range), std::size(range), data_type<Element<Range>>()};
}

template <typename In, typename Out>
Buffers buffers(const In& in, Out& out, std::size_t count) {
  static_assert(std::is_same_v<Element<const In>, Element<Out>>, "input and output have elements of the same type");
  return {input(in).data, output(out).data, count, data_type<Element<Out>>()};
}

template <typename In, typename Out>
Buffers alike(const In& in, Out& out, bool has_output = true) {
  Buffers both = buffers(in, out, std::size(in));
  if (has_output) both.expect("output", std::size(out), both.count);
  return both;
}

// The output has a block for each rank.
template <typename In, typename Out>
Buffers gathered(const In& in, Out& out, int num_ranks, bool has_output = true) {
  Buffers both = buffers(in, out, std::size(in));
  if (has_output) both.expect("output", std::size(out), both.count * static_cast<std::size_t>(num_ranks));
  return both;
}

// The input has.
template <typename In, typename Out>
Buffers scattered(const In& in, Out& out, int num_ranks, bool has_input = true) {
  Buffers both = buffers(in, out, std::size(out));
  if (has_input) both.expect("input", std::size(in), both.count * static_cast<std::size_t>(num_ranks));
  return both;
}

// Both have.
template <typename In, typename Out>
Buffers exchanged(const In& in, Out& out, int num_ranks) {
  // A communicator of no ranks is refused by the call itself.
  const auto ranks = num_ranks > 0 ? static_cast<std::size_t>(num_ranks) : 1;
  Buffers both = buffers(in, out, std::size(in) / ranks);
  both.expect("input", std::size(in), (std::size(in) + ranks - 1) / ranks * ranks);
  both.expect("output", std::size(out), std::size(in));
  return both;
}

}  // namespace detail

}  // namespace v0_1
}  // namespace tutti
