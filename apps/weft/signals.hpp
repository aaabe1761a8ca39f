#pragma once

namespace weft::app {

/// Makes Ctrl-C, a hang-up, a polite kill and a reader that went away remove files that are not finished before they
/// end the tool the usual way, so that a shell sees which signal it was.
void install_signal_handlers();

/// Opens what the caller closed of the standard streams, so that no file of ours takes their place; writing to a closed
/// standard output still fails.
void secure_standard_streams();

}  // namespace weft::app
