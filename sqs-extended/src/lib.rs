#![doc = include_str!("../README.md")]

mod handle;
mod pointer;

pub use handle::ExtendedHandle;
pub use pointer::{BadPointer, Pointer, PointerClass};
