#pragma once
#include <memory>
#include <mutex>
#include <vector>

namespace weft {

/// Lends a Tally to each running range and sums them up in the end; there are never more than threads.
template <class Tally>
class TallyPool {
 public:
  template <class F>
  void use(F&& body) {
    std::unique_ptr<Tally> tally = take();
    body(*tally);
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(tally));
  }
  Tally total() const {
    Tally sum;
    for (const auto& tally : idle_) sum.add(*tally);
    return sum;
  }

 private:
  std::unique_ptr<Tally> take() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Tally> tally = std::move(idle_.back());
        idle_.pop_back();
        return tally;
      }
    }
    return std::make_unique<Tally>();
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<Tally>> idle_;
};

}  // namespace weft
