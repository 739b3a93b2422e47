//! The builder that sends itself: an input builder bound to the client that will run it.

/// An input builder `B` bound to a handle `H` that executes operations.
///
/// Every client of this workspace returns it from its action methods (`client.send_message()`), so the
/// same calls build a request whatever sends it. The setters are those of the input's own builder.
#[derive(Clone, Debug)]
pub struct FluentBuilder<B, H> {
    pub(crate) inner: B,
    pub(crate) handle: H,
}

impl<B: Default, H> FluentBuilder<B, H> {
    /// An empty builder whose request `handle` will run.
    pub fn new(handle: H) -> Self {
        Self { inner: B::default(), handle }
    }
}

impl<B, H> FluentBuilder<B, H> {
    /// The input built so far.
    pub fn as_input(&self) -> &B {
        &self.inner
    }

    /// Takes the builder apart into the input built so far and the handle.
    pub fn into_parts(self) -> (B, H) {
        (self.inner, self.handle)
    }

    /// Binds an input builder that already has values.
    pub fn from_parts(inner: B, handle: H) -> Self {
        Self { inner, handle }
    }
}
