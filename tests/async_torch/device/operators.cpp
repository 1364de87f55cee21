// Operations of a device that is not there: the host's kernels on its memory, done by threads.
//
// What writes into memory that is there is done later, by the current stream; what makes tensors
// of its own is split by PyTorch into an allocation and such a write, or waits.

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/NativeFunctions.h>
#include <ATen/autocast_mode.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <torch/library.h>

#include "runtime.h"

namespace standin {

using Blocks = std::vector<Block>;

const c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

bool is_here(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_privateuseone();
}

c10::Stream stream_of(const at::Tensor& tensor) {
  return Guard().getStream(tensor.device());
}

// The same memory as a tensor of the host; `blocks` then hold it.
at::Tensor on_host(const at::Tensor& tensor, Blocks& blocks) {
  blocks.push_back(block_of(tensor.storage().data_ptr()));
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                       tensor.options().device(c10::kCPU).requires_grad(false));
}

void do_later(const c10::Stream& stream, Blocks blocks, std::function<void()> work) {
  queue_of(stream).give([blocks = std::move(blocks), work = std::move(work)] {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    work();
  });
}

// One call of any operation, with tensors of the host for those of the device.
class Call {
 public:
  explicit Call(const c10::OperatorHandle& op) : op_(op) {}

  void add(const c10::Argument& argument, const c10::IValue& value) {
    if (value.isTensor()) {
      stack_.emplace_back(translated(value.toTensor()));
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector()) list.push_back(translated(each));
      stack_.emplace_back(list);
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& each : value.toOptionalTensorVector()) {
        list.push_back(each ? std::optional(translated(*each)) : std::nullopt);
      }
      stack_.emplace_back(list);
    } else if (argument.name() == "generator") {
      stack_.emplace_back(draw(value, device_->index()));
    } else {
      stack_.push_back(value);
    }
  }

  void make_later() {
    do_later(Guard().getStream(*device_), std::move(blocks_), [op = op_, stack = stack_]() mutable {
      op.callBoxed(&stack);
    });
  }

 private:
  at::Tensor translated(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (!is_here(tensor)) return tensor.clone();  // a number: it may change before it is read
    TORCH_CHECK(!device_ || *device_ == tensor.device(), op_.operator_name(),
                ": tensors are on ", *device_, " and on ", tensor.device());
    device_ = tensor.device();
    return on_host(tensor, blocks_);
  }

  c10::OperatorHandle op_;
  torch::jit::Stack stack_;
  Blocks blocks_;
  std::optional<c10::Device> device_;
};

bool writes_to(const c10::Argument& argument) {
  return argument.alias_info() && argument.alias_info()->isWrite();
}

// Whether all that a call gives is memory that its arguments have already.
bool only_writes(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> values) {
  const auto& arguments = schema.arguments();
  bool found = false;
  for (const auto i : c10::irange(arguments.size())) {
    if (!writes_to(arguments[i])) continue;
    const auto& value = values[i];
    if (value.isTensor() && (!is_here(value.toTensor()) || value.toTensor().numel() == 0)) {
      return false;  // it may have to grow
    }
    found = true;
  }
  const auto& returns = schema.returns();
  return found && std::all_of(returns.begin(), returns.end(), writes_to);
}

void run_any(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const auto& arguments = schema.arguments();
  const auto values = torch::jit::last(*stack, arguments.size());
  if (!only_writes(schema, values)) {
    at::native::cpu_fallback(op, stack);  // its copies to the host wait
    return;
  }
  Call call(op);
  std::vector<c10::IValue> written;
  for (const auto i : c10::irange(arguments.size())) {
    call.add(arguments[i], values[i]);
    if (writes_to(arguments[i])) written.push_back(values[i]);
  }
  call.make_later();
  torch::jit::drop(*stack, arguments.size());
  for (const auto i : c10::irange(schema.returns().size())) stack->push_back(written[i]);
}

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  Blocks blocks;
  const auto from = on_host(source, blocks), to = on_host(target, blocks);
  const auto is_held = std::all_of(blocks.begin(), blocks.end(), [](auto& b) { return b; });
  const auto stream = stream_of(is_here(source) ? source : target);
  const auto is_between = is_here(source) && is_here(target) && source.device() != target.device();
  if (is_between) wait_in(stream, mark(stream_of(target)));
  do_later(stream, blocks, [from, to] { to.copy_(from); });
  if (is_between) wait_in(stream_of(target), mark(stream));
  const auto is_on_devices = is_here(source) && is_here(target);
  if (!is_on_devices && !(non_blocking && is_held)) queue_of(stream).wait();
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& target) {
  target.resize_(source.sizes());
  return copy_from(source, target, false);
}

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(c10::device_or_default(device));
  return at::detail::empty_generic(size, &device_memory(), kKeys, c10::dtype_or_default(dtype),
                                   format);
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  const c10::DeviceGuard guard(c10::device_or_default(device));
  return at::detail::empty_strided_generic(size, stride, &device_memory(), kKeys,
                                           c10::dtype_or_default(dtype));
}

const at::Tensor& resize(const at::Tensor& self, c10::IntArrayRef size,
                         std::optional<at::MemoryFormat>) {
  const auto needed = at::detail::computeStorageNbytesContiguous(size, self.element_size(),
                                                                 self.storage_offset());
  if (needed > self.storage().nbytes()) at::native::resize_bytes_nocuda(self.storage(), needed);
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return self;
}

void record_stream(at::Tensor&, c10::Stream) {}  // work holds its blocks

// Adds 1, and takes so many milliseconds for it, on any device.
at::Tensor busy(const at::Tensor& x, double milliseconds) {
  const auto sleep = [milliseconds] {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
  };
  if (is_here(x)) {
    queue_of(stream_of(x)).give(sleep);
  } else if (x.is_cpu()) {
    sleep();
  }
  return at::add(x, 1);
}

const int registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  c10::SetAllocator(kType, &device_memory());
  c10::impl::registerDeviceGuard(kType, new Guard);
  return 0;
}();

}  // namespace standin

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&standin::run_any>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", standin::copy_from);
  m.impl("_copy_from_and_resize", standin::copy_from_and_resize);
  m.impl("empty.memory_format", standin::empty);
  m.impl("empty_strided", standin::empty_strided);
  m.impl("resize_", standin::resize);
  m.impl("record_stream", standin::record_stream);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("set_.source_Storage", at::native::set_);
  m.impl("set_.source_Storage_storage_offset", at::native::set_storage_cpu_);
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  KERNEL_PRIVATEUSEONE(mm, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(matmul, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(linear, lower_precision_fp)
}

TORCH_LIBRARY(standin, m) {
  m.def("busy(Tensor x, float milliseconds) -> Tensor",
        torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, standin::busy));
  m.def("is_used(int device) -> bool",
        [](int64_t device) { return standin::queues_of(device).is_used(); });
  m.def("limit_memory(int device, int nbytes) -> ()", [](int64_t device, int64_t nbytes) {
    standin::device_memory().limit(device, nbytes);
  });
  m.def("default_generator(int device) -> Generator?",
        [](int64_t device) { return standin::default_generator(device); });
}
