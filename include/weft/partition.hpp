#pragma once
#include <weft/csr.hpp>
#include <weft/export.hpp>
#include <weft/runtime.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Ways to put the rows of a matrix into parts.
enum class Partitioner {
  automatic,    ///< coordinates where they are given; else multilevel, or contiguous if the matrix is not square
  multilevel,   ///< Weft's own, parallel: halves of a coarse graph, refined on finer and finer ones. Square matrices
  metis,        ///< METIS's k-way partitioning, on one core. Square matrices, builds with METIS
  coordinates,  ///< halves of the points that the rows are at, see PartitionOptions::coordinates; any matrix
  contiguous,   ///< rows as they stand, cut into equal pieces; any matrix
};

WEFT_API std::string_view to_string(Partitioner method);
/// Throws Error(invalid_argument), with what there is, for an unknown name.
WEFT_API Partitioner parse_partitioner(std::string_view name);
WEFT_API const std::vector<Partitioner>& partitioners();  ///< all of them, `automatic` first
WEFT_API bool has_metis();                                ///< whether this build can ask METIS

/// The rows of a matrix (and its columns alike, if it is square) in parts.
struct Partition {
  Index parts = 0;
  Array<Index> part_of;  ///< row -> its part, 0 .. parts - 1; some parts may be empty
};

/// Where in space the rows of a matrix are, or its nodes: those of a mesh, say.
struct Coordinates {
  int dimensions = 3;    ///< 1, 2 or 3
  Array<double> points;  ///< coordinate d of point i at [i * dimensions + d]; a point per row, or per `block` rows
};

struct PartitionOptions {
  Index parts = 0;      ///< wanted; 0: as few as most_rows allows. More are made where most_rows demands it
  Index most_rows = 0;  ///< no part gets more rows than this; 0: no limit
  int block = 1;        ///< rows R * block .. R * block + block - 1 (the unknowns of a node) stay together
  Partitioner method = Partitioner::automatic;
  /// Make the entries of the parts even, not their rows; most_rows still holds. Not for `contiguous`.
  bool even_entries = false;
  /// Where the rows are. The mesher knows, and then no search is needed: they are halved, and nothing is refined.
  std::shared_ptr<const Coordinates> coordinates = nullptr;
  Progress progress = {};
};

/// Finds parts of about equally many rows with few entries between them: cuts in the graph of A + A^T, whatever the
/// values. The same for the same matrix and options, for any number of threads, and for metis as long as nobody else in
/// the process calls std::rand meanwhile. Throws Error(invalid_argument) for negative numbers, when a node's rows are
/// more than most_rows, and for coordinates that are missing, not finite, or of another number of rows or nodes;
/// Error(unsupported) for multilevel and metis of a matrix that is not square and for metis where the build or METIS's
/// numbers cannot; Error(cancelled) when the progress callback asks to stop. METIS itself cannot be stopped: it then
/// runs to its end on a thread of its own, and its result is dropped. Where it could only complain, metis is
/// multilevel: few nodes per part, or few heavy ones.
template <Value V>
WEFT_API Partition partition(const Csr<V>& matrix, const PartitionOptions& options);

/// The same partition with each part of more than most_rows rows split into as few as possible; the first piece keeps
/// its number, others get new ones. `block` rows stay together, unless the partition has separated some already. Throws
/// Error(invalid_argument) when the partition is not one of this matrix's rows, or a node's rows are more than
/// most_rows.
template <Value V>
WEFT_API Partition limit_parts(const Csr<V>& matrix, const Partition& partition, Index most_rows, int block = 1);

/// What a partition is judged by.
struct PartitionQuality {
  Offset cut = 0;      ///< entries whose row and column are in different parts; 0 for a matrix that is not square
  Index largest = 0;   ///< rows of the largest part
  Index smallest = 0;  ///< and of the smallest; 0 if some are empty
  Index empty = 0;     ///< parts without rows
};

/// Throws Error(invalid_argument) when the partition is not one of this matrix's rows.
template <Value V>
WEFT_API PartitionQuality quality(const Csr<V>& matrix, const Partition& partition);

/// Throws Error(invalid_argument) unless there are `rows` numbers from 0 to parts - 1.
WEFT_API void require_partition(const Partition& partition, Index rows);

/// Reads the part of each row, one number from 0 a line, as METIS's programs write them (plain, .gz or .xz); blank
/// lines and lines that begin with % or # are passed over. There are as many parts as the largest number says. Throws
/// Error(parse) that starts with "file:line:" for a bad file or one of other than `rows` numbers, Error(io) when it
/// cannot be read.
WEFT_API Partition read_partition(const std::string& path, Index rows);

/// Writes such a file; atomic, packed when the name ends in .gz.
WEFT_API void write_partition(const std::string& path, const Partition& partition);

/// Reads where rows or nodes are: a file with a point per line, 1 to 3 numbers between blanks (plain, .gz or .xz), in
/// which blank lines and lines that begin with % or # are passed over; or "fem:MESH:...", as read_matrix takes it: the
/// nodes of that matrix. Throws Error(parse) that starts with "file:line:" for a bad file, Error(io) when it cannot be
/// read, and what generate throws.
WEFT_API Coordinates read_coordinates(const std::string& source);

}  // namespace weft
