//! What the benchmarks of the workspace share. The command that runs them all is `cargo bench-all`.
//!
//! | Module | What it is about |
//! |---|---|
//! | [`arguments`] | the options of a benchmark, and errors that say what is allowed |
//! | [`process`] | time, and what a process has used of processor and memory |
//! | [`figures`] | medians and ratios |
//! | [`server`] | a server in a process of its own, which ends with this one |
//! | [`plot`] | bars and lines as SVG |

pub mod arguments;
pub mod figures;
pub mod plot;
pub mod process;
pub mod server;
