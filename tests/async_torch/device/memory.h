// Memory of the devices, and pinned memory: both lie on the host. It is counted, and limited.
#pragma once

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>

#include "queue.h"

namespace standin {

constexpr auto kType = c10::DeviceType::PrivateUse1;

// Work that was not done yet holds on to blocks whose tensors are gone.
using Block = std::shared_ptr<void>;

inline Block make_block(size_t nbytes) {
  return Block(std::aligned_alloc(64, (nbytes + 63) / 64 * 64), std::free);
}

struct Owner {
  Block block;
  std::function<void()> let_go;
};

inline void delete_owner(void* context) {
  auto* owner = static_cast<Owner*>(context);
  owner->let_go();
  delete owner;
}

inline c10::DataPtr own(Block block, c10::Device device, std::function<void()> let_go) {
  void* data = block.get();
  return {data, new Owner{std::move(block), std::move(let_go)}, &delete_owner, device};
}

// The block that a storage is in; none, where it is ordinary memory of the host.
inline Block block_of(const c10::DataPtr& data) {
  const bool is_ours = data.get_deleter() == &delete_owner;
  return is_ours ? static_cast<Owner*>(data.get_context())->block : nullptr;
}

class DeviceMemory final : public c10::DeviceAllocator {
  using Stats = c10::CachingDeviceAllocator::DeviceStats;

 public:
  c10::DataPtr allocate(size_t nbytes) override {
    const auto device = c10::impl::getDeviceGuardImpl(kType)->getDevice();
    const auto index = device.index();
    queues_of(index).at(0);  // from now on the device is in use
    if (nbytes == 0) return {nullptr, device};
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto& stats = stats_.at(index);
      const auto used = stats.allocated_bytes[0].current;
      const auto limit = limits_.at(index);
      if (nbytes > static_cast<size_t>(limit - used)) {
        stats.num_ooms++;
        TORCH_CHECK_WITH(OutOfMemoryError, false, "standin out of memory. Tried to allocate ",
                         nbytes, " bytes; ", device, " has ", limit, ", of which ", used,
                         " are in use.");
      }
      count(stats, nbytes);
    }
    auto block = make_block(nbytes);
    const void* data = block.get();
    report(data, nbytes, device);
    return own(std::move(block), device, [this, data, index, nbytes] {
      give_back(index, nbytes);
      report(data, -static_cast<int64_t>(nbytes), {kType, index});
    });
  }

  void limit(c10::DeviceIndex device, int64_t nbytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    limits_.at(device) = nbytes;
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto limit = limits_.at(device);
    return {limit - stats_.at(device).allocated_bytes[0].current, limit};
  }

  Stats getDeviceStats(c10::DeviceIndex device) override {
    std::lock_guard<std::mutex> lock(mutex_);
    return stats_.at(device);
  }

  void resetPeakStats(c10::DeviceIndex device) override {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& stats = stats_.at(device);
    for (auto* each : {&stats.allocated_bytes, &stats.reserved_bytes}) (*each)[0].reset_peak();
  }

  void resetAccumulatedStats(c10::DeviceIndex device) override {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& stats = stats_.at(device);
    for (auto* each : {&stats.allocated_bytes, &stats.reserved_bytes}) {
      (*each)[0].reset_accumulated();
    }
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}  // nothing is kept
  void recordStream(const c10::DataPtr&, c10::Stream) override {}  // work holds its blocks
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* target, const void* source, size_t count) const override {
    default_copy_data(target, source, count);
  }

 private:
  static void count(Stats& stats, size_t nbytes) {
    stats.allocation[0].increase(1);
    stats.allocated_bytes[0].increase(nbytes);
    const auto& used = stats.allocated_bytes[0].current;
    auto& reserved = stats.reserved_bytes[0];  // as if what was given back were kept
    if (used > reserved.current) reserved.increase(used - reserved.current);
  }

  // To the profiler, as the allocators of GPUs do.
  void report(const void* data, int64_t nbytes, c10::Device device) {
    const auto used = getDeviceStats(device.index()).allocated_bytes[0].current;
    c10::reportMemoryUsageToProfiler(const_cast<void*>(data), nbytes, used, used, device);
  }

  void give_back(c10::DeviceIndex device, size_t nbytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& stats = stats_.at(device);
    stats.allocation[0].decrease(1);
    stats.allocated_bytes[0].decrease(nbytes);
  }

  std::mutex mutex_;
  std::array<Stats, kDevices> stats_;
  std::array<int64_t, kDevices> limits_{int64_t{1} << 30, int64_t{1} << 30};
};

class PinnedMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t nbytes) override {
    auto block = make_block(nbytes);
    const void* data = block.get();
    std::lock_guard<std::mutex> lock(mutex_);
    starts_.insert(data);
    return own(std::move(block), c10::kCPU, [this, data] { forget(data); });
  }

  bool has(const void* data) {
    std::lock_guard<std::mutex> lock(mutex_);
    return starts_.count(data) > 0;
  }

  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* target, const void* source, size_t count) const override {
    default_copy_data(target, source, count);
  }

 private:
  void forget(const void* data) {
    std::lock_guard<std::mutex> lock(mutex_);
    starts_.erase(data);
  }

  std::mutex mutex_;
  std::set<const void*> starts_;
};

inline DeviceMemory& device_memory() {
  static auto* memory = new DeviceMemory;
  return *memory;
}

inline PinnedMemory& pinned_memory() {
  static auto* memory = new PinnedMemory;
  return *memory;
}

}  // namespace standin
