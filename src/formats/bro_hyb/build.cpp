// bro-hyb is hyb with packed parts: bro-ell multiplies the first k entries of each row, and bro-coo adds the rest.
#include "formats/bro_coo/bro_coo.hpp"
#include "formats/bro_ell/bro_ell.hpp"
#include "formats/bro_hyb/bro_hyb.hpp"
#include "formats/hyb/hyb.hpp"

namespace weft::bro_hyb {
namespace {

const hyb::Parts& parts() {
  static const hyb::Parts both{.ell = bro_ell::format(),
                               .coo = bro_coo::format(),
                               .reports_details = true,
                               .ell_number = "h",
                               .coo_number = "steps"};
  return both;
}

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  return hyb::build_hybrid(source, options, parts(), &bro_ell::build_part<V>);
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "bro-hyb";
    f.info.summary = "the first entries of each row in bro-ell, the rest in bro-coo: a few long rows, few bytes";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {
        hyb::k_parameter("bro-ell"),
        {"h", "rows of a slice of bro-ell; else 256", 32, bro_ell::max_slice_rows, true},
        {"steps", "entries per lane of an interval of bro-coo; else 32, on a GPU fewer for small matrices", 1,
         bro_coo::max_steps, true}};
    f.info.refuses = "a given k whose padding bro-ell would refuse";
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    return f;
  }();
  return format;
}

}  // namespace weft::bro_hyb
