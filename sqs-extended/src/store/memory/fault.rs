//! What goes wrong in a store on demand.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::pointer::Pointer;
use crate::store::{StoreError, StoreErrorKind};

/// What a store is asked to do.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StoreCall {
    /// To write an object.
    Put,
    /// To read one.
    Get,
    /// To delete one.
    Delete,
    /// To list some.
    List,
}

/// What goes wrong with a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreFault {
    /// Nothing is done, and the store says why.
    Refuse(StoreErrorKind),
    /// It is done, and the answer is lost: an error whose outcome is unknown.
    LoseAnswer,
    /// Of a body that is read, so many bytes come, and then the end without an error. Other calls are not struck.
    Truncate(usize),
    /// Of a body that is read, so many bytes come, and then an error. Other calls are not struck.
    Interrupt(usize),
    /// Nothing is done, and no answer ever comes.
    Hang,
}

impl StoreFault {
    /// The error for a call that nothing was done for.
    pub(super) fn refusal(kind: StoreErrorKind, call: StoreCall, at: &Pointer) -> StoreError {
        StoreError::new(kind, format!("{call:?} {at}: this failure ({}) was injected", kind.as_str()))
    }
}

type Condition = Arc<dyn Fn(StoreCall, &Pointer) -> Option<StoreFault> + Send + Sync>;

/// What is to go wrong.
#[derive(Default)]
pub(super) struct Faults {
    /// For the next calls, in order; `None` lets one pass.
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

    /// What strikes a call: what was queued, or else what the condition says. The condition is handed out, to be called
    /// when nothing is locked.
    pub(super) fn next(&mut self, call: StoreCall) -> Result<Option<StoreFault>, Option<Condition>> {
        match self.queued.get_mut(&call).and_then(VecDeque::pop_front) {
            Some(fault) => Ok(fault),
            None => Err(self.condition.clone()),
        }
    }
}
