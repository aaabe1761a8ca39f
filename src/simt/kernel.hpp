#pragma once

namespace weft::simt {

/// A kernel and what errors call it; WEFT_KERNEL makes one.
template <class... Parameters>
struct Kernel {
  const char* name;
  void (*function)(Parameters...);
};

template <class... Parameters>
Kernel<Parameters...> make_kernel(const char* name, void (*function)(Parameters...)) {
  return {name, function};
}

}  // namespace weft::simt
