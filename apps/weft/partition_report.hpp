#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "formats/bce/partition.hpp"

namespace weft::app {

/// The optimal partition of the rows, beside the two simplest ones.
struct PartitionReport {
  Index rows_to_fill = 0;
  bce::Partition best;
  bce::Partition one_block;       ///< plain ELL
  bce::Partition block_a_length;  ///< no padding
};

PartitionReport partition_rows(const RowLengths& lengths, Index rows_to_fill);

std::string as_text(const PartitionReport& report);
nlohmann::ordered_json to_json(const PartitionReport& report);

}  // namespace weft::app
