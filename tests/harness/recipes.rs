//! Holds the Rust code of the project's guides and of the book to what the crates really offer: each block in them is
//! compiled and run as a doc test.
#![cfg_attr(doctest, doc = include_str!("../../CONTRIBUTING.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/layouts.md"))]
