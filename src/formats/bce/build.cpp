#include <algorithm>
#include <limits>

#include "formats/bce/bce.hpp"
#include "formats/bce/tuning.hpp"
#include "formats/cpu_operator.hpp"

namespace weft::bce {
namespace {

constexpr Offset entries_per_chunk = 4096;    // of a hand-out: about 50 KB of matrix
constexpr Offset rows_per_chunk = 4096;       // empty rows have no entries
constexpr Offset entries_per_thread = 16384;  // below this, waking a thread costs more than it brings
constexpr std::int64_t longest_index = std::numeric_limits<Index>::max();

/// Where hand-outs of about the same number of entries begin.
Array<Offset> cut_into_chunks(const Layout& layout, const Array<Offset>& positions) {
  std::vector<Offset> chunks{0};
  for (Offset s = 0; s < layout.sub_blocks(); ++s)
    if (positions[s + 1] - positions[chunks.back()] > entries_per_chunk ||
        layout.block_rows[s + 1] - layout.block_rows[chunks.back()] > rows_per_chunk)
      if (s > chunks.back()) chunks.push_back(s);
  if (chunks.back() < layout.sub_blocks()) chunks.push_back(layout.sub_blocks());
  return Array<Offset>(std::move(chunks));
}

template <Value V>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  CpuOperator(const MatrixSource<V>& source, const Settings& settings)
      : CpuOperatorBase<V>(source.rows(), source.nonzeros()),
        settings_(settings),
        offsets_(source.host().offsets),
        storage_(set_up(source, settings)),
        chunks_(cut_into_chunks(storage_.layout, storage_.positions)),
        partials_(storage_.layout.pieces.size() * max_row_major_vectors) {}

  void update_values(std::span<const V> csr_values) override { fill_values(storage_, offsets_, csr_values); }

  OperatorInfo info() const override {
    const Layout& layout = storage_.layout;
    OperatorInfo info;
    info.details = describe_layout(layout, settings_);
    info.bytes = storage_.row_numbers.bytes() + layout.block_rows.bytes() + layout.threads.bytes() +
                 layout.piece_starts.bytes() + layout.pieces.bytes() + storage_.widths.bytes() +
                 storage_.full_widths.bytes() + storage_.positions.bytes() + storage_.columns.bytes() +
                 storage_.values.bytes() + chunks_.bytes() + partials_.bytes();
    info.padding = storage_.positions.back() - this->entries();
    info.numbers = numbers_of(layout, settings_);
    return info;
  }

 private:
  void multiply(const Product<V>& product) override {
    const Layout& layout = storage_.layout;
    const View<V> view{.sub_blocks = layout.sub_blocks(),
                       .block_rows = layout.block_rows.data(),
                       .widths = storage_.widths.data(),
                       .full_widths = storage_.full_widths.data(),
                       .threads = layout.threads.data(),
                       .positions = storage_.positions.data(),
                       .row_numbers = storage_.row_numbers.data(),
                       .columns = storage_.columns.data(),
                       .values = storage_.values.data(),
                       .long_rows = layout.long_rows(),
                       .long_row_numbers = storage_.row_numbers.data() + layout.block_rows.back(),
                       .piece_starts = layout.piece_starts.data(),
                       .pieces = static_cast<Offset>(layout.pieces.size()),
                       .partials = partials_.data()};
    WEFT_CALL_ISA(multiply<V>)(view, chunks_.data(), static_cast<Offset>(chunks_.size()) - 1, product,
                               useful_threads(storage_.positions.back(), entries_per_thread));
  }

  Settings settings_;
  Array<Offset> offsets_;  // the matrix's, shared: for new values
  Storage<V> storage_;
  Array<Offset> chunks_;
  Array<V> partials_;
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  if (options.device.is_cpu()) return std::make_unique<CpuOperator<V>>(source, settings_for(options));
  return WEFT_ON_DEVICE(options.device, bce::build<V>)(source, options);
}

/// Nothing has to be filled but the lanes of a sub-block, and a row needs one thread only.
Settings cpu_settings() {
  Settings settings;
  settings.threads = 1;
  settings.lanes = cpu_lanes;
  settings.rows_to_fill = cpu_lanes;
  settings.group = 1;
  settings.alignment = cpu_lanes;
  settings.longest_row = 16384;
  settings.piece = 4096;
  return settings;
}

Settings gpu_settings(const BuildOptions& options) {
  const DeviceInfo device = describe(options.device);
  const auto tuning = options.tuning_as<Tuning>();
  Settings settings;
  settings.rows_to_fill = device.threads_per_multiprocessor;
  settings.longest_row = tuning.longest_row;
  settings.piece = tuning.piece;
  settings.min_entries_per_thread = tuning.min_entries_per_thread;
  settings.max_entries_per_thread = tuning.max_entries_per_thread;
  // The emulator counts as one multiprocessor, so that its choices are the same everywhere.
  const Offset multiprocessors = options.device.kind() == Device::Kind::gpu ? device.multiprocessors : 1;
  settings.threads_to_fill = multiprocessors * device.threads_per_multiprocessor;
  return settings;
}

}  // namespace

Settings settings_for(const BuildOptions& options) {
  Settings settings = options.device.is_cpu() ? cpu_settings() : gpu_settings(options);
  settings.rows_to_fill = static_cast<Index>(options.parameter("fill", settings.rows_to_fill));
  settings.threads = static_cast<int>(options.parameter("t", settings.threads));
  settings.share = options.parameter("share", 0);
  settings.min_entries_per_thread = static_cast<int>(options.parameter("min", settings.min_entries_per_thread));
  settings.longest_row = options.parameter("longest", settings.longest_row);
  settings.piece = options.parameter("piece", std::min(settings.piece, settings.longest_row));
  if (settings.piece > settings.longest_row)
    throw Error(ErrorCode::invalid_argument,
                "format 'bce': piece must be at most " + std::to_string(settings.longest_row) +
                    ", as only longer rows are cut, not " + std::to_string(settings.piece));
  return settings;
}

std::map<std::string, std::int64_t> numbers_of(const Layout& layout, const Settings& settings) {
  std::map<std::string, std::int64_t> numbers{
      {"fill", settings.rows_to_fill}, {"longest", settings.longest_row}, {"piece", settings.piece}};
  if (settings.threads > 0) {
    numbers["t"] = settings.threads;
  } else {
    numbers["share"] = share_of(layout.entries(), settings);
    numbers["min"] = settings.min_entries_per_thread;
  }
  return numbers;
}

std::string describe_layout(const Layout& layout, const Settings& settings) {
  constexpr std::size_t max_named = 4;
  const std::vector<Offset>& widths = layout.partition.widths;
  std::string text = std::to_string(widths.size()) + (widths.size() == 1 ? " block" : " blocks");
  if (!widths.empty()) text += widths.size() == 1 ? " of width" : " of widths";
  for (std::size_t b = 0; b < widths.size(); ++b) {
    if (widths.size() > max_named && b == 2) text += " ...";
    if (widths.size() > max_named && b >= 2 && b + 1 < widths.size()) continue;
    text += " " + std::to_string(widths[b]);
  }
  text += ", fill " + std::to_string(settings.rows_to_fill);
  Index min = 32, max = 1;
  for (const Index threads : layout.threads) {
    min = std::min(min, threads);
    max = std::max(max, threads);
  }
  if (min < max) text += ", " + std::to_string(min) + " to " + std::to_string(max) + " threads per row";
  if (min == max) text += ", " + std::to_string(max) + (max == 1 ? " thread per row" : " threads per row");
  if (layout.long_rows() > 0)
    text += ", " + std::to_string(layout.long_rows()) + (layout.long_rows() == 1 ? " row" : " rows") + " in " +
            std::to_string(layout.pieces.size()) + " pieces";
  return text;
}

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "bce";
    f.info.summary = "rows of similar length in blocks of ELL, cut where the modelled time is least";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {
        {"fill", "rows that fill a multiprocessor: fewer cost as much (default: the threads it holds; 8 on a CPU)", 1,
         1 << 20},
        {"t", "threads per row (default: as many as leave none more than its share of the entries)", 1, 32, true},
        {"share", "entries per thread (default: that of each thread the device holds, 4 to 512)", 1, longest_index},
        {"min", "entries below which a row gets no more threads (default 4)", 1, 1024},
        {"longest", "longer rows are cut (default 2048; 16384 on a CPU)", 1, longest_index},
        {"piece", "entries of such a row's pieces (default 1024; 4096 on a CPU)", 1, longest_index}};
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.predict = &predict;
    return f;
  }();
  return format;
}

}  // namespace weft::bce
