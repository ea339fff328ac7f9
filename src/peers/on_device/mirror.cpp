// SPDX-License-Identifier: Apache-2.0
#include "peers/on_device/mirror.hpp"

#include <utility>

#include "peers/on_device/must.hpp"

namespace tutti::peers::on_device {

Result<std::shared_ptr<Mirror>> Mirror::make(const Request& request, int num_ranks, Device& device,
                                             const Allocate& allocate) {
  const BufferBytes bytes = bytes_of_buffers(request, num_ranks);
  std::shared_ptr<Mirror> mirror(new Mirror(device));
  const auto add = [&](void* on_host, std::size_t size) { mirror->buffers_.push_back({on_host, size, nullptr}); };
  // In place the smaller lies in the larger.
  if (!request.in_place || bytes.input > bytes.output) add(request.input, bytes.input);
  if (!request.in_place || bytes.input <= bytes.output) add(request.output, bytes.output);
  for (Buffer& buffer : mirror->buffers_) {
    TUTTI_TRY_ASSIGN(buffer.on_device, allocate(buffer.bytes));
  }
  mirror->request_ = request;
  mirror->request_.input = on_device(mirror->buffers_.front(), request.input);
  mirror->request_.output = on_device(mirror->buffers_.back(), request.output);
  return mirror;
}

Mirror::Allocate Mirror::ordinary(Device& device) {
  return [&device](std::size_t bytes) -> Result<std::shared_ptr<void>> {
    TUTTI_TRY_ASSIGN(Device::Memory memory, device.allocate(bytes));
    return std::shared_ptr<void>(std::move(memory));
  };
}

void Mirror::load() const {
  for (const Buffer& buffer : buffers_) must(device_.copy_in(buffer.on_device.get(), buffer.on_host, buffer.bytes));
}

void Mirror::store() const {
  const Buffer& output = buffers_.back();
  must(device_.copy_out(output.on_host, output.on_device.get(), output.bytes));
}

void* Mirror::on_device(const Buffer& buffer, const void* on_host) {
  const auto offset = static_cast<const std::byte*>(on_host) - static_cast<const std::byte*>(buffer.on_host);
  return static_cast<std::byte*>(buffer.on_device.get()) + offset;
}

}  // namespace tutti::peers::on_device
