#pragma once
#include <weft/error.hpp>
#include <weft/plan.hpp>
#include <weft/preconditioners.hpp>

#include <memory>
#include <string>
#include <utility>

// What all preconditioners share.
namespace weft::precondition {

[[noreturn]] inline void refuse(const std::string& name, const std::string& sentence) {
  throw Error(ErrorCode::invalid_argument, name + ": " + sentence);
}

template <Value V>
void require_square(const std::string& name, const MatrixSource<V>& A) {
  if (A.rows() != A.cols())
    refuse(name, "the matrix has " + std::to_string(A.rows()) + " rows and " + std::to_string(A.cols()) +
                     " columns; only square ones have an inverse");
}

/// Throws unless new values can come from this matrix.
template <Value V>
void require_rows(const std::string& name, const MatrixSource<V>& A, Index rows) {
  if (A.rows() != rows || A.cols() != rows)
    refuse(name, "the new values are of a matrix of " + std::to_string(A.rows()) + " x " + std::to_string(A.cols()) +
                     ", the preconditioner is for one of " + std::to_string(rows) + " x " + std::to_string(rows));
}

/// Plans by `format`. Empty: by bro-sell, on a CPU by sell unless the entries come in blocks, where it takes half the
/// time, or by csr where these refuse the matrix. Never by trial: the same matrix gives the same bits each time.
template <Value V>
std::unique_ptr<Plan<V>> plan_inverse(const MatrixSource<V>& matrix, Device device, bool in_blocks,
                                      const std::string& format) {
  const auto planned = [&](const std::string& name) {
    return std::make_unique<Plan<V>>(plan(matrix, {.device = device, .format = name}));
  };
  if (!format.empty()) return planned(format);
  try {
    return planned(device.is_cpu() && !in_blocks ? "sell" : "bro-sell");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return planned("csr");
  }
}

/// The operator and the information that all have.
template <Value V>
class Base : public UpdatablePreconditioner<V> {
 public:
  Index rows() const final { return rows_; }
  Index cols() const final { return rows_; }
  Device device() const final { return device_; }
  const PreconditionerInfo& info() const final { return info_; }

 protected:
  Base(std::string name, Index rows, Device device) : rows_(rows), device_(device) { info_.name = std::move(name); }

  const Index rows_;
  const Device device_;
  PreconditionerInfo info_;
};

/// The inverse of the diagonal of A. Throws as jacobi does, in the name of `name`.
template <Value V>
Array<V> inverse_diagonal(const std::string& name, const Csr<V>& matrix);

}  // namespace weft::precondition
