#include "python_session.hpp"

#include <weft/buffer.hpp>

#include <cmath>
#include <cstring>
#include <map>

#include "core/timer.hpp"

namespace weft::bench {
namespace {

/// Which of the libraries the Python in use has, asked once.
struct Installed {
  std::map<std::string, std::string> versions;
  std::string problem;

  static const Installed& instance() {
    static const Installed installed;
    return installed;
  }

  std::string why_none(const std::string& library) const {
    if (!problem.empty()) return problem;
    if (versions.contains(library)) return {};
    return python_program() + " has no " + library +
           (library == "scipy" ? "; make peers installs it"
                               : "; install it there, or name another Python in WEFT_PYTHON");
  }

 private:
  Installed() {
    try {
      PythonProcess python;
      const nlohmann::json answer = python.ask({{"do", "versions"}});
      for (const auto& [name, version] : answer.at("versions").items())
        if (version.is_string()) versions[name] = version.template get<std::string>();
    } catch (const Error& error) {
      problem = error.what();
    } catch (const nlohmann::json::exception&) {
      problem = "Python's process gave an answer that makes no sense";
    }
  }
};

constexpr std::size_t alignment = 64;

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

PythonLibrary find_in_python(const std::string& library) {
  const Installed& installed = Installed::instance();
  const std::string why_none = installed.why_none(library);
  return {why_none.empty() ? installed.versions.at(library) : std::string(), why_none};
}

template <Value V>
void PythonSession<V>::prepare(const Csr<V>& matrix, const nlohmann::json& task) {
  const Stopwatch watch;
  const Array<int> offsets = narrow_offsets(matrix, library_);
  nlohmann::json places;
  std::size_t size = 0;
  const auto reserve = [&]<class T>(const char* array, std::size_t count, T) {
    const Place place{size, count};
    places[array] = {std::is_integral_v<T> ? "i4" : "f" + std::to_string(sizeof(T)), place.begin, place.count};
    size += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return place;
  };
  const Place offsets_place = reserve("offsets", offsets.size(), int());
  const Place columns_place = reserve("columns", matrix.columns.size(), Index());
  const Place values_place = reserve("values", matrix.values.size(), V());
  x_ = reserve("x", static_cast<std::size_t>(matrix.cols), V());
  y_ = reserve("y", static_cast<std::size_t>(matrix.rows), V());

  memory_ = SharedMemory(size);
  copy(at(offsets_place), offsets.data(), offsets.bytes());
  copy(at(columns_place), matrix.columns.data(), matrix.columns.bytes());
  copy(at(values_place), matrix.values.data(), matrix.values.bytes());
  process_.emplace(memory_);
  const nlohmann::json answer = ask({{"do", "prepare"},
                                     {"library", library_},
                                     {"rows", matrix.rows},
                                     {"cols", matrix.cols},
                                     {"device", device_.is_cpu() ? 0 : device_.index()},
                                     {"size", memory_.size()},
                                     {"places", places},
                                     {"task", task}});
  info_ = {.version = field<std::string>(answer, "version"),
           .details = field<std::string>(answer, "details"),
           .bytes = field<std::size_t>(answer, "bytes"),
           .upload_seconds = field<double>(answer, "upload_seconds")};
  info_.start_seconds = std::max(0.0, watch.seconds() - field<double>(answer, "setup_seconds"));
}

template <Value V>
void PythonSession<V>::send_x(const V* x) {
  if (device_.is_cpu())
    copy(at(x_), x, x_.count * sizeof(V));
  else
    detail::copy_to_host(device_, at(x_), x, x_.count * sizeof(V), {});
}

template <Value V>
void PythonSession<V>::receive_y(V* y) const {
  if (device_.is_cpu()) {
    copy(y, at(y_), y_.count * sizeof(V));
  } else {
    detail::copy_to_device(device_, y, at(y_), y_.count * sizeof(V), {});
    synchronize(device_);
  }
}

template <Value V>
nlohmann::json PythonSession<V>::ask(const nlohmann::json& question) {
  if (!process_) throw Error(ErrorCode::io, library_ + " was not prepared");
  try {
    return process_->ask(question);
  } catch (const Error& error) {
    throw Error(error.code(), library_ + ": " + error.what());
  }
}

template <Value V>
double PythonSession<V>::seconds(const nlohmann::json& answer) const {
  const auto seconds = field<double>(answer, "seconds");
  if (!std::isfinite(seconds) || seconds < 0)
    throw Error(ErrorCode::io, library_ + ": Python's process gave an answer that makes no sense");
  return seconds;
}

#define WEFT_INSTANTIATE(V) template class PythonSession<V>;
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
