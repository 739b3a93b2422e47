//! Injected faults of a store in memory.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;

/// A call of a store.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StoreCall {
    /// Writing an object.
    Put,
    /// Reading an object.
    Get,
    /// Deleting an object.
    Delete,
    /// Listing objects.
    List,
}

/// A fault of a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreFault {
    /// The call is not executed and fails.
    Fail(ErrorKind),
    /// The call is executed and fails: its outcome is unknown.
    LoseResponse,
    /// The body of a read ends after this number of bytes. Other calls succeed.
    Truncate(usize),
    /// The body of a read fails after this number of bytes. Other calls succeed.
    Interrupt(usize),
    /// The call is not executed and never ends.
    Hang,
}

impl StoreFault {
    /// The error of a call that is not executed.
    pub(super) fn error(kind: ErrorKind, call: StoreCall, at: &Pointer) -> Error {
        Error::new(kind, format!("{call:?} {at}: injected failure ({})", kind.as_str()))
    }
}

type Condition = Arc<dyn Fn(StoreCall, &Pointer) -> Option<StoreFault> + Send + Sync>;

/// The injected faults.
#[derive(Default)]
pub(super) struct Faults {
    /// For the next calls, in order. `None`: the call succeeds.
    queued: HashMap<StoreCall, VecDeque<Option<StoreFault>>>,
    condition: Option<Condition>,
}

impl Faults {
    pub(super) fn queue(&mut self, call: StoreCall, fault: Option<StoreFault>) {
        self.queued.entry(call).or_default().push_back(fault);
    }

    pub(super) fn set_condition(&mut self, condition: Option<Condition>) {
        self.condition = condition;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The fault of the next call: a queued one, else the decision of the condition. Returns the condition instead of
    /// calling it, because the caller must first release the lock.
    pub(super) fn next(&mut self, call: StoreCall) -> Result<Option<StoreFault>, Option<Condition>> {
        match self.queued.get_mut(&call).and_then(VecDeque::pop_front) {
            Some(fault) => Ok(fault),
            None => Err(self.condition.clone()),
        }
    }
}
