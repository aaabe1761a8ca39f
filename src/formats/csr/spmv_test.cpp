// Products straight from CSR arrays on a device, without a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/spmv.hpp>

#include <limits>
#include <string>
#include <vector>

#include "reference.hpp"
#include "sparse/callers_csr.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

using testing::HasSubstr;

template <Value V, class O>
void expect_products(const Csr<V>& matrix, const std::string& what) {
  const auto x = random_vector<V>(matrix.cols, 3);
  const auto y = random_vector<V>(matrix.rows, 4);
  for (const Device device : devices_with_kernels())
    for (const SpmvAlgorithm algorithm : {SpmvAlgorithm::merge, SpmvAlgorithm::speculative})
      for (const V beta : {V(0), V(1), V(-0.5)})
        for (const V alpha : {V(0), V(2)}) {
          const CallersCsr<V, O> arrays(device, matrix);
          const std::size_t bytes = spmv_workspace_bytes(arrays.view(), algorithm);
          DeviceBuffer<std::byte> workspace(device, std::vector<std::byte>(bytes, std::byte{0xff}));
          // Where y is not read it may hold anything.
          Array<V> start = y;
          if (beta == V(0)) start = Array<V>(y.size(), std::numeric_limits<V>::quiet_NaN());
          DeviceBuffer<V> from(device, x), to(device, start);
          spmv(alpha, arrays.view(), from, beta, to, workspace, algorithm);
          EXPECT_TRUE(equals_reference<V>(matrix, Op::none, alpha, x, beta, start, to.download()))
              << what << " on " << device.name() << (algorithm == SpmvAlgorithm::merge ? ", merge" : ", speculative");
        }
}

TEST(Spmv, MultipliesEveryStructure) {
  for (const auto& [name, matrix] : awkward_structures<double>(false)) expect_products<double, Offset>(matrix, name);
}

TEST(Spmv, TakesOffsetsOf32Bits) {
  for (const auto& [name, matrix] : awkward_structures<float>(false))
    expect_products<float, std::int32_t>(matrix, name);
}

TEST(Spmv, SaysWhatIsWrongWithItsArguments) {
  const Csr<double> matrix = make_csr<double>(3, 4, {0, 2, 2, 5}, {0, 2, 0, 1, 3}, {1, 2, 3, 4, 5});
  const auto sentence = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  for (const Device device : devices_with_kernels()) {
    const CallersCsr<double, Offset> arrays(device, matrix);
    const auto good = arrays.view();
    DeviceBuffer<double> x(device, 4), y(device, 3), wrong(device, 5);
    DeviceBuffer<std::byte> workspace(device, spmv_workspace_bytes(good) + 16), small(device, 1);
    const DeviceSpan<std::byte> room = workspace;
    EXPECT_THAT(sentence([&] { spmv(1, good, wrong, 0, y, room); }),
                HasSubstr("x has 5 elements, but the matrix needs 4"));
    EXPECT_THAT(sentence([&] { spmv(1, good, x, 0, wrong, room); }),
                HasSubstr("y has 5 elements, but the matrix needs 3"));
    EXPECT_THAT(sentence([&] { spmv(1, good, x, 0, y, small); }), HasSubstr("the workspace has 1 bytes, but"));
    EXPECT_THAT(sentence([&] { spmv(1, good, x, 0, y, room.subspan(8, room.size() - 8)); }),
                HasSubstr("multiple of 16"));
    auto bad = good;
    bad.rows = 2;
    EXPECT_THAT(sentence([&] { spmv(1, bad, x, 0, y, room); }),
                HasSubstr("offsets has 4 elements, but the matrix needs 3"));
    bad = good;
    bad.columns = bad.columns.subspan(0, 4);
    EXPECT_THAT(sentence([&] { spmv(1, bad, x, 0, y, room); }),
                HasSubstr("columns has 4 elements, but the matrix needs 5"));
    bad = good;
    bad.rows = -1;
    EXPECT_THAT(sentence([&] { spmv_workspace_bytes(bad); }), HasSubstr("fewer than 0 rows"));
    bad = good;
    bad.columns = {bad.columns.data(), 5, Device::cpu()};
    EXPECT_THAT(sentence([&] { spmv_workspace_bytes(bad); }), HasSubstr("columns is on cpu, but"));
    bad = {3,
           4,
           {good.offsets.data(), 4, Device::cpu()},
           {good.columns.data(), 5, Device::cpu()},
           {good.values.data(), 5, Device::cpu()}};
    EXPECT_THAT(sentence([&] { spmv_workspace_bytes(bad); }), HasSubstr("make a plan"));
  }
}

}  // namespace
}  // namespace weft::test
