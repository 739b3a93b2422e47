//! Receiving: messages that come by themselves, each with a lease, and never more than there is credit for.
//!
//! ```text
//! pump: credits -> receives (each a task) -> open leases -> batch of deliveries -> channel -> receiver | consumer
//! keeper: renews leases, gives back what was abandoned
//! ```

mod bank;
mod credits;
mod delivery;
mod error;
mod event;
mod grace;
mod intake;
mod monitor;
mod pause;
mod poll;
mod pump;
mod received;
mod receiver;
mod settings;
mod source;
mod stats;
mod stop;
mod visibility;

pub(crate) use bank::{Bank, Credit};
pub(crate) use delivery::Delivery;
pub use error::{ReceiveError, ReceiveErrorKind};
pub use event::Event;
pub(crate) use grace::{GRACE, Grace};
pub(crate) use intake::Intake;
pub use monitor::Settled;
pub(crate) use monitor::{Hook, Monitor};
pub(crate) use pump::give_back;
pub use received::Received;
pub use receiver::{Receiver, ReceiverBuilder};
pub(crate) use settings::{Settings, receive_setters};
pub(crate) use source::Source;
pub use stats::ReceiveStats;
pub(crate) use stop::Stop;
