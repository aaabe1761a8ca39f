#include "generate/build.hpp"

#include <unistd.h>

#include <string>

namespace weft::generation {

Meter::Meter(const Progress& progress, std::int64_t total, double from, double to)
    : progress_(progress), total_(total), step_(std::max<std::int64_t>(1, total / 100)), from_(from), to_(to) {}

void Meter::add(std::int64_t done) {
  if (!progress_) return;
  const std::int64_t before = done_.fetch_add(done);
  if (before / step_ == (before + done) / step_ && before + done != total_) return;
  std::lock_guard lock(mutex_);
  const double share = from_ + (to_ - from_) * static_cast<double>(before + done) / static_cast<double>(total_);
  if (share <= shown_) return;  // another thread has told more already
  shown_ = share;
  if (!progress_(share)) throw Error(ErrorCode::cancelled, "the generation of the matrix was cancelled");
}

void require_memory(double bytes) {
  static const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (memory <= 0 || bytes <= memory) return;
  constexpr double gigabyte = 1e9;
  throw Error(ErrorCode::out_of_memory, "the matrix needs about " + std::to_string(static_cast<std::int64_t>(bytes / gigabyte) + 1) +
                                            " GB of memory and this machine has " +
                                            std::to_string(static_cast<std::int64_t>(memory / gigabyte)) + " GB");
}

}  // namespace weft::generation
