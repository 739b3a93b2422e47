//! The checks of the fuzz targets. In addition to the absence of panics, they check:
//!
//! ```text
//! request, answer   a decoded value does not change when encoded and decoded again, in both protocols
//! excess            the memory of a decoder is limited by the length of the body
//! headers           the detected protocol matches the headers
//! signature         a signed request is accepted, and rejected after any change
//! ```

mod answers;
mod headers;
mod memory;
mod message;
mod requests;
mod signatures;
// Shared with the integration tests: the table of operations and the independent parsers.
#[path = "../../tests/it/golden_tree.rs"]
mod golden_tree;
#[path = "../../tests/it/shapes.rs"]
mod shapes;

pub use answers::answer;
pub use headers::headers;
pub use memory::excess;
pub use requests::request;
pub use signatures::signature;
