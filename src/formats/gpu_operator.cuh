#pragma once
#include "formats/gpu_product.cuh"
#include "formats/registry.hpp"

namespace weft::WEFT_SIMT_NAMESPACE {

/// What the GPU operators of all formats have in common: the current device, products that read nothing of the matrix,
/// and new values from the host.
template <Value V>
class GpuOperatorBase : public Operator<V> {
 public:
  GpuOperatorBase(Device device, Index rows, Offset entries) : device_(device), rows_(rows), entries_(entries) {}

  void apply(const Product<V>& product, Stream stream) final {
    gpu::CurrentDevice current(device_);
    if (product.alpha == V(0) || entries_ == 0) return scale(rows_, product, stream);
    multiply(product, stream);
  }

  void update_values(std::span<const V> csr_values) final {
    if (entries_ > 0) update_values(DeviceBuffer<V>(device_, csr_values));
  }
  void update_values(DeviceSpan<const V> csr_values) final {
    if (entries_ == 0) return;
    gpu::CurrentDevice current(device_);
    place_values(csr_values.data());
    synchronize(device_);  // what is read may be gone afterwards
  }

 protected:
  /// y = alpha A x + beta y; alpha is not 0 and there are entries. The device is current.
  virtual void multiply(const Product<V>& product, Stream stream) = 0;
  /// Puts new values, in the order of the csr and on the device, to their places. The device is current.
  virtual void place_values(const V* csr_values) = 0;

  Device device() const { return device_; }
  Index rows() const { return rows_; }
  Offset entries() const { return entries_; }

 private:
  void update_values(DeviceBuffer<V> csr_values) { update_values(DeviceSpan<const V>(std::as_const(csr_values))); }

  Device device_;
  Index rows_;
  Offset entries_;
};

/// Values of a csr on the device as an operator keeps them: shared with the source, until new ones come.
template <Value V>
class SharedValues {
 public:
  SharedValues() = default;
  explicit SharedValues(DeviceArray<V> shared) : shared_(std::move(shared)) {}

  const V* data() const { return own_.size() > 0 ? std::as_const(own_).data() : shared_.data(); }
  std::size_t size() const { return own_.size() > 0 ? own_.size() : shared_.size(); }
  std::size_t bytes() const { return size() * sizeof(V); }

  void replace(Device device, const V* csr_values) {
    if (own_.size() == 0) own_ = DeviceBuffer<V>(device, shared_.size());
    shared_ = {};
    ::weft::detail::copy_on_device(device, own_.data(), csr_values, own_.bytes(), {});
  }

 private:
  DeviceArray<V> shared_;
  DeviceBuffer<V> own_;
};

}  // namespace weft::WEFT_SIMT_NAMESPACE
