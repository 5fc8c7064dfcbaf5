//! Holds the code of the project's guides to what the crates really offer: each block in them is compiled and run as a
//! doc test.
#![cfg_attr(doctest, doc = include_str!("../../CONTRIBUTING.md"))]
