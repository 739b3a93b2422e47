//! Shared code of the benchmarks. `cargo bench-all` runs all of them.
//!
//! | Module | Contents |
//! |---|---|
//! | [`arguments`] | parser of command-line options |
//! | [`process`] | time, and CPU time and memory of a process |
//! | [`figures`] | medians and ratios |
//! | [`server`] | a server in a child process |
//! | [`plot`] | bar charts and line charts as SVG |

pub mod arguments;
pub mod figures;
pub mod plot;
pub mod process;
pub mod server;
