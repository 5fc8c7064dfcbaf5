//! Malformed input of every kind ends in a located message, never in a panic.
