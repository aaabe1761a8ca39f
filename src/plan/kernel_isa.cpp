#include "plan/kernel_isa.hpp"

#include <weft/csr.hpp>
#include <weft/error.hpp>
#include <weft/source.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>

#include "core/isa.hpp"
#include "core/timer.hpp"
#include "plan/cache_file.hpp"

namespace weft {
namespace {

constexpr double worth_it = 0.97;  // of AVX2's time: closer ones are ties

/// A matrix that lives in a cache, where kernels differ most: rows are made of `row(r)`, ascending columns.
template <Value V, class Row>
Csr<V> make_matrix(Index rows, Row&& row) {
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  for (Index r = 0; r < rows; ++r) {
    row(r, columns);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  Array<V> values(columns.size());
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<V>(1) / static_cast<V>(1 + k % 17);
  return {rows, rows, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)), std::move(values)};
}

/// Neighbours on a grid of nodes with `unknowns` each, as finite elements make them: runs, and blocks of several
/// unknowns.
template <Value V>
Csr<V> grid_matrix(Index side, Index unknowns) {
  return make_matrix<V>(side * side * side * unknowns, [&](Index row, std::vector<Index>& columns) {
    const Index node = row / unknowns, x = node % side, y = node / side % side, z = node / side / side;
    for (Index dz = -1; dz <= 1; ++dz)
      for (Index dy = -1; dy <= 1; ++dy)
        for (Index dx = -1; dx <= 1; ++dx) {
          const bool inside = std::min({x + dx, y + dy, z + dz}) >= 0 && std::max({x + dx, y + dy, z + dz}) < side;
          if (!inside) continue;
          const Index other = node + dx + side * (dy + side * dz);
          for (Index k = 0; k < unknowns; ++k) columns.push_back(other * unknowns + k);
        }
  });
}

/// Rows of 4 to 27 entries anywhere.
template <Value V>
Csr<V> irregular_matrix() {
  constexpr Index rows = 6000;
  std::uint32_t state = 1;
  return make_matrix<V>(rows, [&](Index row, std::vector<Index>& columns) {
    const Index length = 4 + row * 7919 % 24, step = rows / length;
    for (Index k = 0; k < length; ++k) {
      state = state * 1664525u + 1013904223u;
      columns.push_back(k * step + static_cast<Index>((state >> 8) % static_cast<std::uint32_t>(step)));
    }
  });
}

/// Those with AVX-512 that a format has, after AVX2, which they are compared with.
std::span<const Isa> choices_of(const Format& format) {
  static constexpr Isa all[] = {Isa::avx2, Isa::avx512, Isa::avx512_gather};
  return std::span(all).first(format.gathers ? 3 : 2);
}

/// The time of each choice over that of AVX2's kernels.
template <Value V>
std::vector<double> time_ratios(const Format& format, const Csr<V>& matrix) {
  const auto op = format.build.get<V>()(MatrixSource<V>(matrix), {.device = Device::cpu()});
  const Array<V> x(static_cast<std::size_t>(matrix.cols), V(1));
  Array<V> y(static_cast<std::size_t>(matrix.rows));
  const Product<V> product{.x = x.data(), .y = y.data()};
  constexpr int rounds = 7, products = 5;
  const std::span<const Isa> choices = choices_of(format);
  std::vector<double> best(choices.size(), 1e30);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t c = 0; c < choices.size(); ++c) {
      op->use_isa(choices[c]);
      op->apply(product, {});
      const Stopwatch watch;
      for (int i = 0; i < products; ++i) op->apply(product, {});
      best[c] = std::min(best[c], watch.seconds());
    }
  const double avx2 = best[0];
  for (double& seconds : best) seconds /= avx2;
  return best;
}

template <Value V>
Isa measure(const Format& format) {
  const std::span<const Isa> choices = choices_of(format);
  std::vector<double> ratios(choices.size(), 1);
  try {
    const std::vector<double> of[] = {time_ratios(format, grid_matrix<V>(16, 1)),
                                      time_ratios(format, grid_matrix<V>(8, 3)),
                                      time_ratios(format, irregular_matrix<V>())};
    for (std::size_t c = 0; c < ratios.size(); ++c) ratios[c] = std::cbrt(of[0][c] * of[1][c] * of[2][c]);
  } catch (const Error& error) {
    log(LogLevel::debug, format.info.name + " is not measured: " + error.what());
  }
  for (std::size_t c = 1; c < choices.size(); ++c)
    log(LogLevel::debug, format.info.name + " " + std::string(to_string(value_type<V>)) + ": " +
                             std::string(to_string(choices[c])) + " takes " + std::to_string(ratios[c]) +
                             " of AVX2's time");
  const auto best = std::ranges::min_element(ratios);
  return *best < worth_it ? choices[static_cast<std::size_t>(best - ratios.begin())] : Isa::avx2;
}

bool has_choice(const Format& format, ValueType type) {
  return !isa_is_forced() && isa_available(Isa::avx512) && format.runs_on(Device::Kind::cpu) && format.has_type(type) &&
         format.info.deterministic;
}

/// Those of this process.
class Isas {
 public:
  Isa get(const Format& format, ValueType type) {
    if (const auto known = find(format, type)) return *known;
    // Not under the lock: this may log, and a user's logger may plan. Of two threads that measure the first is right.
    const Isa found = with_value_type(type, [&]<class V>(std::type_identity<V>) { return measure<V>(format); });
    if (const auto known = find(format, type)) return *known;
    const std::lock_guard lock(mutex_);
    all_.push_back({format.info.name, type, found});
    write();
    return found;
  }

  std::vector<KernelIsa> renew() {
    std::vector<KernelIsa> all;
    for (const Format* format : registry())
      for_each_value_type([&]<class V>(std::type_identity<V>) {
        if (has_choice(*format, value_type<V>)) all.push_back({format->info.name, value_type<V>, measure<V>(*format)});
      });
    const std::lock_guard lock(mutex_);
    all_ = all;
    read_ = true;
    if (!all_.empty()) write();
    return all;
  }

 private:
  std::optional<Isa> find(const Format& format, ValueType type) {
    const std::lock_guard lock(mutex_);
    if (!read_) all_ = read();
    read_ = true;
    const auto known = std::ranges::find_if(
        all_, [&](const KernelIsa& one) { return one.format == format.info.name && one.type == type; });
    return known == all_.end() ? std::nullopt : std::optional(known->isa);
  }

  static std::string file() { return cache_file(Device::cpu(), ".isa"); }
  static std::vector<KernelIsa> read() {
    constexpr std::size_t far_too_long = 4096;
    const std::optional<std::string> text = read_cache_file(file(), far_too_long);
    return text ? parse_kernel_isas(*text) : std::vector<KernelIsa>();
  }
  void write() const {
    if (const std::string path = file(); !path.empty())
      write_cache_file(path, to_text(all_), "the instruction set of kernels");
  }

  std::mutex mutex_;
  bool read_ = false;
  std::vector<KernelIsa> all_;
};

Isas& isas() {
  static Isas all;
  return all;
}

}  // namespace

Isa kernel_isa(const Format& format, ValueType type) {
  return has_choice(format, type) ? isas().get(format, type) : isa();
}

std::vector<KernelIsa> renew_kernel_isas() { return isas().renew(); }

std::string to_text(const std::vector<KernelIsa>& all) {
  std::string text = "# Weft's fastest instruction set per format and type; renewed by: weft tune\n";
  for (const KernelIsa& one : all)
    text += one.format + " " + std::string(to_string(one.type)) + " " + std::string(to_string(one.isa)) + "\n";
  return text;
}

std::vector<KernelIsa> parse_kernel_isas(const std::string& text) {
  std::vector<KernelIsa> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string format, type, isa;
    if (!(words >> format >> type >> isa)) continue;
    for_each_value_type([&]<class V>(std::type_identity<V>) {
      for (const Isa choice : {Isa::avx2, Isa::avx512, Isa::avx512_gather})
        if (type == to_string(value_type<V>) && isa == to_string(choice))
          all.push_back({format, value_type<V>, choice});
    });
  }
  return all;
}

}  // namespace weft
