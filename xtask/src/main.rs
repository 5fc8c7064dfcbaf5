//! Set-up and habits of the project as `cargo xtask ...`.
fn main() {}
