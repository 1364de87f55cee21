// Generators: each operation draws a seed when it is called, and its numbers when it runs.
#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include "memory.h"

namespace standin {

class Generator final : public at::CPUGeneratorImpl {
 public:
  explicit Generator(c10::DeviceIndex device) {
    device_ = {kType, device};
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
  }
};

inline const at::Generator& default_generator(c10::DeviceIndex device) {
  static auto* all = new std::array<at::Generator, kDevices>{
      at::make_generator<Generator>(0), at::make_generator<Generator>(1)};
  return all->at(device);
}

// A generator of the host, of a seed that was drawn from one of the device.
inline at::Generator draw(const c10::IValue& given, c10::DeviceIndex device) {
  auto source = given.isNone() ? default_generator(device) : given.toGenerator();
  std::lock_guard<std::mutex> lock(source.mutex());
  return at::detail::createCPUGenerator(source.get<Generator>()->random64());
}

}  // namespace standin
