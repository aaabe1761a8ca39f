#pragma once
#include "facts/length_tally.hpp"
#include "simt/on_device.hpp"
#include "sparse/source_kernels.hpp"
#include "sparse/source_state.hpp"

// Facts about a matrix on a device, found there, see pattern_facts.cu and symmetry.cu. Patterns come with 64-bit
// offsets. Only what is returned comes to the host; of rows with at least LengthTally::short_lengths entries, that is
// their length.
WEFT_DECLARE_ON_DEVICES(facts, LengthTally tally_lengths(const DevicePattern& pattern);
                        /* The number of block x block blocks with an entry; once it is sure to be above `limit`, any
                           number above it. `block` divides rows and columns. */
                        Offset count_blocks(const DevicePattern& pattern, int block, Offset limit);
                        Array<Index> column_use(const DevicePattern& pattern);
                        /* Without values: of the pattern alone; what is returned about values means nothing then. */
                        template <Value V> SymmetryFacts find_symmetry(const DevicePattern& pattern, const V* values);)
