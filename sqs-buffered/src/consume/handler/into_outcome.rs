//! Return types of handlers.

use crate::consume::outcome::{HandlerError, Outcome};

/// A return type of a [handler](crate::Handler): `()` for success, an [`Outcome`], or a `Result` of these whose error converts into
/// [`HandlerError`]. Implement it for return types of your own.
///
/// ```
/// use sqs_buffered::{HandlerError, IntoOutcome, Outcome};
///
/// enum Cooked {
///     Served,
///     Burnt,
/// }
///
/// impl IntoOutcome for Cooked {
///     fn into_outcome(self) -> Result<Outcome, HandlerError> {
///         match self {
///             Self::Served => Ok(Outcome::Ack),
///             Self::Burnt => Err("burnt".into()),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a message handler cannot return `{Self}`",
    label = "not a handler's result",
    note = "a handler returns `()`, `Outcome`, or `Result<T, E>` where `T` is one of these and `E` converts into \
            `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoOutcome {
    /// Converts the returned value.
    ///
    /// # Errors
    /// The handler failed: the message is delivered again after the [back-off](crate::BackOff).
    fn into_outcome(self) -> Result<Outcome, HandlerError>;
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Result<Outcome, HandlerError> {
        Ok(Outcome::Ack)
    }
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Result<Outcome, HandlerError> {
        Ok(self)
    }
}

impl<T: IntoOutcome, E: Into<HandlerError>> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Result<Outcome, HandlerError> {
        self.map_err(Into::into)?.into_outcome()
    }
}
