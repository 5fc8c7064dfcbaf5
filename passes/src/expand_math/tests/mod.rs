//! Every function on the host's numbers, over dense samples, against a reference of higher precision.
mod double;
mod exact;
mod fast;
mod host;
mod powers;
mod single;
