//! Choices that have a name.

/// The size above which a message goes through the store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Threshold {
    /// Bytes, counted as the service counts them: the body, and name, type and value of each attribute. A message of
    /// exactly so many goes as it is.
    Bytes(usize),
    /// What the queue takes: its `MaximumMessageSize`, asked for every five minutes. Where it may not be asked, the
    /// default applies.
    Queue,
}

impl Threshold {
    /// 262,144 bytes, the default of the libraries.
    pub const DEFAULT_BYTES: usize = 262_144;
}

impl Default for Threshold {
    fn default() -> Self {
        Self::Bytes(Self::DEFAULT_BYTES)
    }
}

/// What becomes of a received message whose object is not there (404, and S3 says so). An object that may not be read (403) is not missing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum MissingObject {
    /// It is handed out as it came, with the pointer as its body.
    #[default]
    Surface,
    /// It is made visible again at once and not handed out, so that a redrive policy makes it a dead letter.
    Release,
    /// It is deleted from the queue and not handed out. Its payload is lost in any case.
    DeleteMessage,
}
