//! Receives messages, each with a lease, and never more than there is credit for.
//!
//! ```text
//! pump: credits -> receives (each a task) -> open leases -> batch of deliveries -> channel -> receiver | consumer
//! ```

mod delivery;
mod error;
mod grace;
mod intake;
mod pause;
mod poll;
mod pump;
mod received;
mod receiver;
mod settings;
mod visibility;

pub(crate) use delivery::Delivery;
pub use error::{ReceiveError, ReceiveErrorKind};
pub(crate) use grace::{GRACE, Grace};
pub(crate) use intake::Intake;
pub(crate) use pause::pause;
pub(crate) use pump::give_back;
pub use received::Received;
pub use receiver::{Receiver, ReceiverBuilder};
pub(crate) use settings::{Settings, receive_setters};
