//! What the fuzz targets check. Nothing may panic, and beyond that:
//!
//! ```text
//! request, answer   what was decoded is encoded in both protocols, and decodes to the same
//! excess            a decoder needs memory within a factor of the body, whatever is repeated in it
//! headers           neither order nor wildcards choose the form of an answer
//! signature         what the signer signs is accepted, and not after any change
//! ```

mod answers;
mod headers;
mod memory;
mod message;
mod requests;
mod signatures;
// The operations, what the forms cannot tell apart, and readers other than those of the crate: as in its tests.
#[path = "../../tests/it/golden_tree.rs"]
mod golden_tree;
#[path = "../../tests/it/shapes.rs"]
mod shapes;

pub use answers::answer;
pub use headers::headers;
pub use memory::excess;
pub use requests::request;
pub use signatures::signature;
