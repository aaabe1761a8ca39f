#pragma once
#include <weft/csr.hpp>
#include <weft/device.hpp>
#include <weft/export.hpp>
#include <weft/partition.hpp>
#include <weft/runtime.hpp>
#include <weft/source.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace weft {

struct ReadOptions {
  Duplicates duplicates = Duplicates::sum;
  Progress progress = {};
};

/// Reads a Matrix Market file (plain, .gz or .xz, recognised by its first bytes): coordinate or array; real, integer or
/// pattern; general, symmetric, skew-symmetric or hermitian. A stored half gives the whole matrix, marked with its
/// symmetry. Throws Error(parse) that starts with "file:line:" ("file:" for a damaged archive) for a bad file,
/// Error(unsupported) for complex values or past 2^31-1 rows or columns, Error(io) when the file cannot be read. Values
/// that are not finite are refused; zeros of an array file are not stored.
template <Value V>
WEFT_API Csr<V> read_matrix_market(const std::string& path, const ReadOptions& options = {});

/// Writes `coordinate real general`, values so that they read back exactly, packed when the name ends in .gz. Atomic:
/// the file appears complete or not at all. Throws Error(io) when the disk refuses, Error(invalid_argument) for a value
/// that is not a finite number (Matrix Market has no text for it).
template <Value V>
WEFT_API void write_matrix_market(const std::string& path, const Csr<V>& matrix, Progress progress = {});

/// Reads a .weft container, whose arrays are mapped, not copied, with the mark of symmetry it was written with; a
/// matrix stored in a packed format (write_weft_as) is unpacked. Values stored in the other type are converted. A file
/// that was cut, altered or made up, or holds a number too large for V, is refused with Error(parse) that starts with
/// "file:"; past 2^31-1 rows or columns it is Error(unsupported).
template <Value V>
WEFT_API Csr<V> read_weft(const std::string& path, const ReadOptions& options = {});

/// Writes a .weft container, with the matrix's mark of symmetry; atomic.
template <Value V>
WEFT_API void write_weft(const std::string& path, const Csr<V>& matrix, Progress progress = {});

/// The same, with the matrix in a format that says it is storable (see formats.hpp), with numbers if you like:
/// "bro-ell:h=64"; "csr" is what write_weft does. `load_plan` takes it up as it is stored. Throws Error(unsupported),
/// naming the formats that can be stored, for another one, and what the format refuses.
/// A format that keeps the rows in parts takes those of `partition`, if there is one, or finds them by `coordinates`.
/// One whose storage depends on the device stores for `device`, which need not be there; without one for a GPU if there
/// is one here, else for the CPU.
template <Value V>
WEFT_API void write_weft_as(const std::string& path, const Csr<V>& matrix, const std::string& format,
                            Progress progress = {}, const std::shared_ptr<const Partition>& partition = nullptr,
                            std::optional<Device> device = {},
                            const std::shared_ptr<const Coordinates>& coordinates = nullptr);

/// Reads whatever `source` names: `gen:NAME:ARGS` and `fem:MESH:...` are generated (see generate.hpp), anything else is
/// a file, recognised by its content.
template <Value V>
WEFT_API Csr<V> read_matrix(const std::string& source, const ReadOptions& options = {});

/// The same as a source for `plan`: of a symmetric Matrix Market file it keeps the half until a format needs the whole.
template <Value V>
WEFT_API MatrixSource<V> read_source(const std::string& source, const ReadOptions& options = {});

/// Writes by the name's ending: .mtx, .mtx.gz or .weft.
template <Value V>
WEFT_API void write_matrix(const std::string& path, const Csr<V>& matrix, Progress progress = {});

/// A vector: a Matrix Market array or coordinate file with one column, or plain text with one number a line.
template <Value V>
WEFT_API Array<V> read_vector(const std::string& path);
template <Value V>
WEFT_API void write_vector(const std::string& path, std::span<const V> vector);  ///< Matrix Market array; atomic

/// Removes the temporary files of writes under way. Async-signal-safe: for a handler that ends the program on Ctrl-C.
/// The writers above remove their own, however they end; only a killed program may leave one.
WEFT_API void remove_unfinished_files() noexcept;

}  // namespace weft
