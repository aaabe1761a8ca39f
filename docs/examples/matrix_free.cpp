#include <weft/weft.hpp>

#include <iostream>
#include <vector>

/// The one-dimensional Laplacian, without a matrix.
class Laplacian : public weft::LinearOperator<double> {
 public:
  explicit Laplacian(weft::Index size) : size_(size) {}
  weft::Index rows() const override { return size_; }
  weft::Index cols() const override { return size_; }
  weft::Device device() const override { return weft::Device::cpu(); }

  void apply(double alpha, View x, double beta, MutableView y, weft::Stream) const override {
    for (weft::Index i = 0; i < size_; ++i) {
      const double left = i > 0 ? x.data()[i - 1] : 0, right = i + 1 < size_ ? x.data()[i + 1] : 0;
      const double sum = 2 * x.data()[i] - left - right;
      y.data()[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y.data()[i];
    }
  }

 private:
  weft::Index size_;
};

/// Takes a plan, on any device, as well as an operator of your own.
double energy(const weft::LinearOperator<double>& A) {
  const std::vector<double> ones(static_cast<std::size_t>(A.cols()), 1.0);
  const weft::Vector<double> x(A.device(), ones);
  weft::Vector<double> y(A.device(), x.size());
  A.apply(1, x, 0, y);
  return weft::dot<double>(x, y);
}

int main() {
  const weft::Plan<double> P = weft::plan(weft::generate<double>("gen:poisson2d:10"));
  std::cout << energy(Laplacian(100)) << ' ' << energy(P) << '\n';
}
