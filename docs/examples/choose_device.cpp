#include <weft/weft.hpp>

#include <iostream>
#include <vector>

int main() {
  const weft::Csr<float> A = weft::generate<float>("gen:poisson3d:20");
  const std::vector<float> x(A.cols, 1.0F);
  std::vector<float> y(A.rows);

  if (const std::string reason = weft::why_no_gpu(); !reason.empty()) {
    std::cout << "no GPU: " << reason << '\n';
    weft::Plan<float> P = weft::plan(A);
    P.apply(x, y);
  } else {
    const weft::Device gpu = weft::Device::gpu();
    weft::Plan<float> P = weft::plan(A, {.device = gpu});
    const weft::DeviceBuffer<float> device_x(gpu, x);
    weft::DeviceBuffer<float> device_y(gpu, y.size());
    P.apply(device_x, device_y);  // queued on CUDA's default stream, or on one you pass
    const weft::Array<float> result = device_y.download();
    y.assign(result.begin(), result.end());
  }
  std::cout << "y[0] = " << y[0] << '\n';
}
