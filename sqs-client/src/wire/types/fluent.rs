//! An input builder that is bound to a client and sends the request.

/// An input builder `B` bound to a handle `H` that executes operations.
///
/// The action methods of every client in this workspace return it, for example `client.send_message()`. It has the same
/// setters as the input builder.
#[derive(Clone, Debug)]
pub struct FluentBuilder<B, H> {
    pub(crate) inner: B,
    pub(crate) handle: H,
}

impl<B: Default, H> FluentBuilder<B, H> {
    /// Creates an empty builder. `handle` executes the request.
    pub fn new(handle: H) -> Self {
        Self { inner: B::default(), handle }
    }
}

impl<B, H> FluentBuilder<B, H> {
    /// Returns the input builder.
    pub fn as_input(&self) -> &B {
        &self.inner
    }

    /// Splits into the input builder and the handle.
    pub fn into_parts(self) -> (B, H) {
        (self.inner, self.handle)
    }

    /// Binds an existing input builder to a handle.
    pub fn from_parts(inner: B, handle: H) -> Self {
        Self { inner, handle }
    }
}
