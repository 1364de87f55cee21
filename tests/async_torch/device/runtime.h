// What PyTorch asks a device: which is current, its streams, events, generators, pinned memory.
#pragma once

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "memory.h"
#include "random.h"

namespace standin {

inline thread_local c10::DeviceIndex current_device = 0;
inline thread_local std::array<c10::StreamId, kDevices> current_streams{};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }

  c10::Device getDevice() const override { return {kType, current_device}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < kDevices, "there is no ", device);
    uncheckedSetDevice(device);
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index()) current_device = device.index();
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    const auto before = getDevice();
    setDevice(device);
    return before;
  }

  c10::Stream getStream(c10::Device device) const override {
    const auto index = device.has_index() ? device.index() : current_device;
    return stream(index, current_streams.at(index));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return stream(device.has_index() ? device.index() : current_device, 0);
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    const auto index = device.has_index() ? device.index() : current_device;
    return stream(index, queues_of(index).next());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getNewStream(device, 0);
  }
  c10::Stream exchangeStream(c10::Stream next) const override {
    const auto before = getStream(next.device());
    current_streams.at(next.device_index()) = next.id();
    return before;
  }
  bool queryStream(const c10::Stream& stream) const override { return queue_of(stream).is_idle(); }
  void synchronizeStream(const c10::Stream& stream) const override { queue_of(stream).wait(); }
  void synchronizeDevice(c10::DeviceIndex device) const override { queues_of(device).wait(); }

  // An event is the mark that it made last.
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex,
              c10::EventFlag) const override {
    if (!*event) *event = new SharedMark;
    last(*event) = mark(stream);
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event) wait_in(stream, last(event));
  }
  bool queryEvent(void* event) const override { return !event || last(event)->is_reached(); }
  void synchronizeEvent(void* event) const override {
    if (event) last(event)->wait();
  }
  double elapsedTime(void* first, void* second, c10::DeviceIndex) const override {
    const auto taken = last(second)->moment() - last(first)->moment();
    return std::chrono::duration<double, std::milli>(taken).count();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<SharedMark*>(event);
  }

 private:
  static c10::Stream stream(c10::DeviceIndex device, c10::StreamId id) {
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(kType, device), id);
  }
  static SharedMark& last(void* event) { return *static_cast<SharedMark*>(event); }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex device) const override {
    return queues_of(device).is_used();
  }
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  c10::DeviceIndex getCurrentDevice() const override { return current_device; }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    Guard().setDevice({kType, device});
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return Guard().exchangeDevice({kType, device}).index();
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return exchangeDevice(device);
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device < 0 ? current_device : device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return at::make_generator<Generator>(device < 0 ? current_device : device);
  }

  bool isPinnedPtr(const void* data) const override { return pinned_memory().has(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return &pinned_memory(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t nbytes) const override {
    const c10::DeviceGuard guard(storage.device());
    queues_of(storage.device().index()).wait();
    auto grown = device_memory().allocate(nbytes);
    std::memcpy(grown.get(), storage.data(), std::min(nbytes, storage.nbytes()));
    storage.set_data_ptr_noswap(std::move(grown));
    storage.set_nbytes(nbytes);
  }
};

}  // namespace standin
