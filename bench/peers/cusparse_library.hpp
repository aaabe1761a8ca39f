#pragma once
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <weft/buffer.hpp>
#include <weft/error.hpp>

#include <span>
#include <string>

#include "shared_library.hpp"

namespace weft::bench {

/// The functions of cuSPARSE we call, found at run time: the tool must start where there is no cuSPARSE.
struct CusparseLibrary {
  SharedLibrary file{"libcusparse.so", {"libcusparse.so.13", "libcusparse.so.12", "libcusparse.so"}};
  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseDestroy) destroy = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseGetErrorString) error_string = nullptr;
  decltype(&cusparseCreateConstCsr) create_csr = nullptr;
  decltype(&cusparseCreateConstCoo) create_coo = nullptr;
  decltype(&cusparseCreateConstSlicedEll) create_sell = nullptr;
  decltype(&cusparseCreateConstBsr) create_bsr = nullptr;  // since 12.1; products of it since 12.6
  decltype(&cusparseDestroySpMat) destroy_matrix = nullptr;
  decltype(&cusparseCreateConstDnVec) create_input = nullptr;
  decltype(&cusparseCreateDnVec) create_output = nullptr;
  decltype(&cusparseDestroyDnVec) destroy_vector = nullptr;
  decltype(&cusparseSpMV_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMV_preprocess) preprocess = nullptr;  // since 12.4; may be absent
  decltype(&cusparseSpMV) multiply = nullptr;
  decltype(&cusparseGetProperty) get_property = nullptr;
  std::string why_none;
  std::string version;

  static const CusparseLibrary& instance() {
    static const CusparseLibrary library;
    return library;
  }

 private:
  CusparseLibrary() {
    if (file.problem().empty()) {
      find(preprocess, "cusparseSpMV_preprocess");
      find(create_bsr, "cusparseCreateConstBsr");
      file.find(create, "cusparseCreate");
      file.find(destroy, "cusparseDestroy");
      file.find(set_stream, "cusparseSetStream");
      file.find(error_string, "cusparseGetErrorString");
      file.find(create_csr, "cusparseCreateConstCsr");
      file.find(create_coo, "cusparseCreateConstCoo");
      file.find(create_sell, "cusparseCreateConstSlicedEll");
      file.find(destroy_matrix, "cusparseDestroySpMat");
      file.find(create_input, "cusparseCreateConstDnVec");
      file.find(create_output, "cusparseCreateDnVec");
      file.find(destroy_vector, "cusparseDestroyDnVec");
      file.find(buffer_size, "cusparseSpMV_bufferSize");
      file.find(multiply, "cusparseSpMV");
      file.find(get_property, "cusparseGetProperty");
    }
    why_none = file.problem();
    if (!why_none.empty()) return;
    for (libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
      int number = 0;
      get_property(part, &number);
      version += (version.empty() ? "" : ".") + std::to_string(number);
    }
  }

  template <class T>
  void find(T*& function, const char* name) {
    function = reinterpret_cast<T*>(file.look_up(name));
  }
};

/// Throws Error(unsupported) with the library's own words.
inline void require(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw Error(ErrorCode::unsupported, "cuSPARSE: " + std::string(CusparseLibrary::instance().error_string(status)));
}

/// Indices in GPU memory, 32 bits wide where they fit: what cuSPARSE's own users would give it.
class Indices {
 public:
  Indices() = default;
  template <class T>
  Indices(Device device, const Array<T>& from, bool wide) : wide_(wide) {
    if (wide)
      upload<std::int64_t>(device, from);
    else
      upload<std::int32_t>(device, from);
  }
  const void* data() const { return bytes_.data(); }
  std::size_t bytes() const { return bytes_.bytes(); }
  cusparseIndexType_t type() const { return wide_ ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I; }

 private:
  template <class To, class From>
  void upload(Device device, const Array<From>& from) {
    Array<To> converted(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) converted[i] = static_cast<To>(from[i]);
    bytes_ = DeviceBuffer<std::byte>(device, std::as_bytes(std::span<const To>(converted)));
  }
  DeviceBuffer<std::byte> bytes_;
  bool wide_ = false;
};

}  // namespace weft::bench
