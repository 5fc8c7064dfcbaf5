//! girih.
