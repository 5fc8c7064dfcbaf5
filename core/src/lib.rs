//! What girih shares between compiler, runtime and simulator, and what needs neither MLIR nor CUDA nor I/O.
//!
//! | module | what it says |
//! |---|---|
//! | [`dtype`] | element types of tiles and arrays |
//! | [`tensor_map`] | the 128-byte TMA descriptor as data, and every rule that the driver checks |
//! | [`manifest`] | the launch manifest that travels with PTX |
//! | [`layout`] | who owns which element, and where it lies: linear maps over F2 |
//! | [`number`] | bit-exact conversions between number formats |
//! | [`target`] | architectures, and which instruction exists on which of them |
//! | [`wgmma`] | warpgroup matrix multiply: types, shapes, descriptors, fragments |
//! | [`device`] | what a thing that launches PTX must be able to do |
pub mod device;
pub mod draw;
pub mod dtype;
pub mod layout;
pub mod manifest;
pub mod number;
pub mod target;
pub mod tensor_map;
pub mod wgmma;
