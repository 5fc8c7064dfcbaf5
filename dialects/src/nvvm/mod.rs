//! Builders for the upstream dialects that tile programs are lowered to.
