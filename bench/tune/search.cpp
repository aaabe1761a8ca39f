#include <algorithm>

#include "tune.hpp"

namespace weft::bench {
namespace {

void insert(std::vector<int>& ascending, int value) {
  const auto place = std::ranges::lower_bound(ascending, value);
  if (place == ascending.end() || *place != value) ascending.insert(place, value);
}

/// As it would have been measured in the first round.
Trial related(Trial trial, const Trial& kept_then, const Trial& kept_now) {
  for (std::size_t m = 0; m < trial.gflops.size(); ++m) trial.gflops[m] *= kept_then.gflops[m] / kept_now.gflops[m];
  return trial;
}

/// Adds a second measurement of the same setting.
void average(Trial& trial, const Trial& again) {
  for (std::size_t m = 0; m < trial.gflops.size(); ++m)
    trial.gflops[m] = 2 / (1 / trial.gflops[m] + 1 / again.gflops[m]);
  trial.correct &= again.correct;
  trial.max_error = std::max(trial.max_error, again.max_error);
}

Shape fastest(const Search& search) {
  const Trial* best = nullptr;
  for (const Trial& trial : search.trials)
    if (trial.correct && (best == nullptr || trial.mean() > best->mean())) best = &trial;
  return best != nullptr ? best->shape : search.kept;
}

}  // namespace

const std::vector<int>& Grid::values(const Parameter& parameter) const {
  return parameter.member == &Shape::width ? widths : parameter.member == &Shape::tiles ? tiles : bunches;
}

void Grid::include(Shape shape) {
  insert(widths, shape.width);
  insert(tiles, shape.tiles);
  insert(bunches, shape.bunches);
}

std::vector<Shape> Grid::all() const {
  std::vector<Shape> shapes;
  for (int width : widths)
    for (int tile : tiles)
      for (int bunch : bunches) shapes.push_back({width, tile, bunch});
  return shapes;
}

std::vector<Shape> Grid::cross(Shape centre) const {
  std::vector<Shape> shapes{centre};
  for (const Parameter& parameter : parameters)
    for (int value : values(parameter)) {
      Shape shape = centre;
      shape.*parameter.member = value;
      if (shape != centre) shapes.push_back(shape);
    }
  return shapes;
}

double Trial::mean() const {
  double reciprocals = 0;
  for (double speed : gflops) reciprocals += 1 / speed;
  return static_cast<double>(gflops.size()) / reciprocals;
}

const Trial* Search::find(Shape shape) const {
  const auto place = std::ranges::find(trials, shape, &Trial::shape);
  return place == trials.end() ? nullptr : &*place;
}

std::vector<const Trial*> Search::curve(const Grid& grid, const Parameter& along) const {
  std::vector<const Trial*> points;
  for (int value : grid.values(along)) {
    Shape shape = best;
    shape.*along.member = value;
    if (const Trial* trial = find(shape)) points.push_back(trial);
  }
  return points;
}

double Search::shortfall() const { return 1 - find(kept)->mean() / find(best)->mean(); }

Search search(Shape kept, const Grid& grid, bool jointly, const Contestants& measure) {
  Search result;
  result.kept = result.best = kept;
  std::vector<Shape> centres;
  while (std::ranges::find(centres, result.best) == centres.end()) {
    const Shape centre = result.best;
    centres.push_back(centre);
    std::vector<Shape> wanted{kept};
    if (centre != kept) wanted.push_back(centre);
    for (const Shape& shape : jointly ? grid.all() : grid.cross(centre))
      if (shape != centre && result.find(shape) == nullptr) wanted.push_back(shape);

    std::vector<Trial> trials = measure(wanted);
    if (result.rounds++ == 0) result.trials.push_back(trials.front());
    const Trial kept_then = *result.find(kept);
    for (std::size_t i = 1; i < trials.size(); ++i) {
      Trial trial = related(std::move(trials[i]), kept_then, trials.front());
      if (const auto known = std::ranges::find(result.trials, trial.shape, &Trial::shape); known != result.trials.end())
        average(*known, trial);
      else
        result.trials.push_back(std::move(trial));
    }
    result.best = fastest(result);
  }
  return result;
}

}  // namespace weft::bench
