#pragma once
// Everything Weft offers. For faster compiles include the headers you use.
#include <weft/array.hpp>
#include <weft/buffer.hpp>
#include <weft/coo.hpp>
#include <weft/csr.hpp>
#include <weft/device.hpp>
#include <weft/error.hpp>
#include <weft/formats.hpp>
#include <weft/generate.hpp>
#include <weft/io.hpp>
#include <weft/order.hpp>
#include <weft/plan.hpp>
#include <weft/runtime.hpp>
#include <weft/spmv.hpp>
#include <weft/structure.hpp>
#include <weft/types.hpp>
#include <weft/version.hpp>
