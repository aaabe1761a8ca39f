#include "chart_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace weft::bench {

const Measurement* find_counting(const Case& one, std::string_view name) {
  for (const Measurement& m : one.measurements)
    if (m.name == name && m.counts()) return &m;
  return nullptr;
}

const Measurement* fastest_of(const Case& one) {
  const Measurement* best = nullptr;
  for (const Measurement& m : one.measurements)
    if (m.counts() && (!best || m.timing.median < best->timing.median)) best = &m;
  return best;
}

std::vector<Entrant> choose_entrants(const std::vector<Case>& cases) {
  struct Candidate {
    std::string name;
    bool peer;
    double score;
  };
  std::vector<Candidate> ours, peers;
  std::map<std::pair<bool, std::string>, double> scores;
  for (const Case& one : cases)
    if (const Measurement* best = fastest_of(one))
      for (const Measurement& m : one.measurements)
        // Being the fastest somewhere counts for more than being not far behind everywhere.
        if (m.counts()) scores[{m.peer, m.name}] += std::pow(best->timing.median / m.timing.median, 4);
  for (const auto& [key, score] : scores)
    (key.first ? peers : ours).push_back({key.second, key.first, key.second == "csr" && !key.first ? 1e9 : score});
  for (std::vector<Candidate>* list : {&ours, &peers})
    std::ranges::stable_sort(*list, std::greater(), &Candidate::score);

  // Variants of a format come after the best of each, since they are often alike.
  std::set<std::string> families;
  std::ranges::stable_partition(
      ours, [&](const Candidate& one) { return families.insert(one.name.substr(0, one.name.find(':'))).second; });

  // Peers may have three of the places, or those that ours leave free.
  constexpr std::size_t places = Entrant::styles, for_peers = 3;
  const std::size_t peers_shown = std::min(peers.size(), std::max(for_peers, places - std::min(places, ours.size())));
  ours.resize(std::min(ours.size(), places - peers_shown));
  peers.resize(peers_shown);
  std::vector<Entrant> chosen;
  for (const std::vector<Candidate>* list : {&ours, &peers})
    for (const Candidate& one : *list) chosen.push_back({one.name, one.peer, static_cast<int>(chosen.size())});
  return chosen;
}

std::size_t count_names(const std::vector<Case>& cases) {
  std::map<std::string_view, int> names;
  for (const Case& one : cases)
    for (const Measurement& m : one.measurements)
      if (m.counts()) ++names[m.name];
  return names.size();
}

std::vector<std::pair<double, double>> profile_steps(const std::vector<const Case*>& cases, const std::string& name,
                                                     double limit) {
  std::vector<double> factors;
  double measured = 0;
  for (const Case* one : cases) {
    const Measurement* best = fastest_of(*one);
    if (!best) continue;
    ++measured;
    if (const Measurement* m = find_counting(*one, name)) factors.push_back(m->timing.median / best->timing.median);
  }
  std::ranges::sort(factors);
  std::vector<std::pair<double, double>> steps;
  for (std::size_t i = 0; i < factors.size() && factors[i] <= limit; ++i) {
    const double share = static_cast<double>(i + 1) / measured;
    if (!steps.empty() && steps.back().first == factors[i])
      steps.back().second = share;
    else
      steps.emplace_back(factors[i], share);
  }
  return steps;
}

double profile_share(const std::vector<const Case*>& cases, const std::string& name, double factor) {
  const auto steps = profile_steps(cases, name, factor);
  return steps.empty() ? 0 : steps.back().second;
}

Cost cost_of(const Measurement& m) {
  // Results of schema 1 do not tell the first product.
  const double first = m.first_product_seconds > 0 ? m.first_product_seconds : m.timing.median;
  return {m.name, m.setup.total() + first, m.timing.median};
}

std::vector<Lead> leads(const std::vector<Cost>& costs) {
  constexpr double most_products = 1e12;
  std::vector<Lead> result;
  const auto best_at = [&](double products) {
    return &*std::ranges::min_element(costs, {}, [&](const Cost& cost) {
      return std::pair(cost.total(products), cost.each);  // of equals the one that will lead soon
    });
  };
  if (costs.empty()) return result;
  double products = 1, least = 2;
  const Cost* leader = best_at(products);
  result.push_back({leader->name, products});
  while (true) {
    double next = most_products * 2;
    for (const Cost& other : costs) {
      if (other.each >= leader->each) continue;
      const double meeting = 1 + (other.start - leader->start) / (leader->each - other.each);
      next = std::min(next, std::max(std::floor(meeting) + 1, least));
    }
    if (next > most_products) return result;
    products = next;
    const Cost* best = best_at(products);
    least = products + 1;
    if (best->each >= leader->each) {  // rounding finds the old leader still ahead: look further on, in few steps
      least = std::floor(products * 1.001) + 1;
      continue;
    }
    leader = best;
    result.push_back({leader->name, products});
  }
}

double csr_intensity(const Case& one) {
  const double size = one.type == ValueType::f32 ? 4 : 8, index = 4;
  const double nonzeros = static_cast<double>(one.nonzeros), rows = static_cast<double>(one.rows);
  const double bytes =
      nonzeros * (size + index) + (rows + 1) * index + one.vectors * (rows + static_cast<double>(one.cols)) * size;
  return 2 * one.vectors * nonzeros / bytes;
}

}  // namespace weft::bench
