//! girih's dialects: [`tile`], and builders for the upstream dialects that it is lowered to ([`nvvm`]).
pub mod nvvm;
pub mod tile;
