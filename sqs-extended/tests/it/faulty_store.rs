//! A wrapper around a store that counts its calls and fails on demand.

use std::collections::{HashMap, VecDeque};
use std::future::{pending, ready};
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_extended::{
    ByteStream, Error, ErrorKind, MemoryStore, Object, PayloadStore, Pointer, StoreFuture, Upload,
};

/// A call of a store.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum StoreCall {
    Put,
    Get,
    Delete,
}

/// A fault of a call.
#[derive(Clone, Debug)]
pub(crate) enum StoreFault {
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

type Condition = Arc<dyn Fn(StoreCall, &Pointer) -> Option<StoreFault> + Send + Sync>;

/// The number of calls so far, including failed ones.
#[derive(Clone, Copy, Default)]
pub(crate) struct StoreCalls {
    pub(crate) puts: u64,
    pub(crate) gets: u64,
    pub(crate) deletes: u64,
}

impl StoreCalls {
    pub(crate) fn total(&self) -> u64 {
        self.puts + self.gets + self.deletes
    }
}

/// Clones share calls and faults.
#[derive(Clone)]
pub(crate) struct FaultyStore<S = MemoryStore> {
    inner: S,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    calls: StoreCalls,
    /// For the next calls, in order. `None`: the call succeeds.
    queued: HashMap<StoreCall, VecDeque<Option<StoreFault>>>,
    condition: Option<Condition>,
}

impl<S> FaultyStore<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner, state: Arc::default() }
    }

    pub(crate) fn calls(&self) -> StoreCalls {
        self.state.lock().unwrap().calls
    }

    /// Injects a fault into the next call of this kind. Further faults affect the calls after it.
    pub(crate) fn fail_next(&self, call: StoreCall, fault: StoreFault) {
        self.state.lock().unwrap().queued.entry(call).or_default().push_back(Some(fault));
    }

    /// Lets the next call of this kind succeed, for a success between two injected faults.
    pub(crate) fn pass_next(&self, call: StoreCall) {
        self.state.lock().unwrap().queued.entry(call).or_default().push_back(None);
    }

    /// Sets a function that returns the fault of each call that has no queued fault. A later call replaces it.
    pub(crate) fn fail_when(
        &self,
        condition: impl Fn(StoreCall, &Pointer) -> Option<StoreFault> + Send + Sync + 'static,
    ) {
        self.state.lock().unwrap().condition = Some(Arc::new(condition));
    }

    /// Removes all injected faults.
    pub(crate) fn heal(&self) {
        let mut state = self.state.lock().unwrap();
        state.queued.clear();
        state.condition = None;
    }

    fn next_fault(&self, call: StoreCall, at: &Pointer) -> Option<StoreFault> {
        let condition = {
            let mut state = self.state.lock().unwrap();
            *match call {
                StoreCall::Put => &mut state.calls.puts,
                StoreCall::Get => &mut state.calls.gets,
                StoreCall::Delete => &mut state.calls.deletes,
            } += 1;
            if let Some(fault) = state.queued.get_mut(&call).and_then(VecDeque::pop_front) {
                return fault;
            }
            state.condition.clone()
        };
        // Without the lock, because it may use the store.
        condition?(call, at)
    }
}

/// Executes a call with its fault.
async fn apply<T>(
    fault: Option<StoreFault>,
    call: StoreCall,
    at: &Pointer,
    act: StoreFuture<'_, T>,
) -> Result<T, Error> {
    let error =
        |kind: ErrorKind| Error::new(kind, format!("{call:?} {at}: injected failure ({})", kind.as_str()));
    match fault {
        Some(StoreFault::Fail(kind)) => Err(error(kind)),
        Some(StoreFault::Hang) => pending().await,
        Some(StoreFault::LoseResponse) => {
            act.await?;
            Err(error(ErrorKind::Unavailable).outcome_unknown())
        }
        Some(StoreFault::Truncate(_) | StoreFault::Interrupt(_)) | None => act.await,
    }
}

/// The first bytes of a body, and an error after them.
fn cut(body: ByteStream, mut left: usize, error: Option<Error>) -> ByteStream {
    body.map_ok(move |mut piece| {
        piece.truncate(left);
        left -= piece.len();
        piece
    })
    .try_filter(|piece| ready(!piece.is_empty()))
    .chain(stream::iter(error.map(Err)))
    .boxed()
}

impl<S: PayloadStore> PayloadStore for FaultyStore<S> {
    fn bucket(&self) -> &str {
        self.inner.bucket()
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Put, at);
            apply(fault, StoreCall::Put, at, self.inner.put(at, upload)).await
        })
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Get, at);
            let get = self.inner.get(at, range, tag);
            let mut object = apply(fault.clone(), StoreCall::Get, at, get).await?;
            object.body = match fault {
                Some(StoreFault::Truncate(length)) => cut(object.body, length, None),
                Some(StoreFault::Interrupt(length)) => {
                    let error = Error::new(ErrorKind::Unavailable, "injected interruption");
                    cut(object.body, length, Some(error))
                }
                _ => object.body,
            };
            Ok(object)
        })
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Delete, at);
            apply(fault, StoreCall::Delete, at, self.inner.delete(at)).await
        })
    }
}

/// Inspects the store inside.
impl<S> Deref for FaultyStore<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.inner
    }
}
