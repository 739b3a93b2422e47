//! An interceptor of the AWS SDK that records the attempts of one call.

use std::error::Error as StdError;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;

use crate::client::Retries;
use crate::transport::was_never_sent;
use crate::wire::service_error::{ErrorCode, RetryClass};

/// The log of one call. `E` is the error type of the operation.
#[derive(Debug)]
pub(super) struct AttemptLog<E> {
    retries: Retries,
    earlier_attempts: u32,
    /// Locked for a few instructions in each hook; never held across an await.
    entry: Arc<Mutex<Entry>>,
    error: PhantomData<fn() -> E>,
}

/// The recorded attempts.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// The number of requests sent, including those of earlier calls.
    pub(super) attempts: u32,
    /// Whether the service may have executed any of them without a response that confirms it.
    pub(super) outcome_unknown: bool,
    /// Whether an attempt is in progress with its request sent.
    in_progress: bool,
    /// Whether the request of the latest attempt was sent.
    pub(super) latest_was_sent: bool,
    /// Status of the response to the latest attempt.
    pub(super) status: Option<u16>,
    /// Request id of the response to the latest attempt.
    pub(super) request_id: Option<String>,
    /// The pause that the latest response requests.
    pub(super) retry_after: Option<Duration>,
    /// The configured settings, before this log overrides them.
    pub(super) retry_config: Option<RetryConfig>,
    pub(super) timeouts: Option<TimeoutConfig>,
}

impl<E> Clone for AttemptLog<E> {
    fn clone(&self) -> Self {
        Self { entry: Arc::clone(&self.entry), ..*self }
    }
}

impl<E> AttemptLog<E> {
    pub(super) fn new(retries: Retries, earlier_attempts: u32) -> Self {
        let entry = Entry { attempts: earlier_attempts, ..Entry::default() };
        Self { retries, earlier_attempts, entry: Arc::new(Mutex::new(entry)), error: PhantomData }
    }

    /// The log after the call has ended.
    pub(super) fn entry(&self) -> Entry {
        let mut entry = self.lock().clone();
        // The SDK calls no hook for an attempt that it cancels.
        entry.outcome_unknown |= entry.in_progress;
        entry
    }

    fn lock(&self) -> MutexGuard<'_, Entry> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The maximum number of attempts of this call, given that one has failed.
    fn max_attempts(&self, entry: &Entry, configured: u32, code: Option<&ErrorCode>) -> u32 {
        let is_skewed = code.is_some_and(|code| code.retry_class() == Some(RetryClass::ClockSkew));
        match self.retries {
            Retries::Never if is_skewed => configured.min(2),
            Retries::Never => 1,
            Retries::UnlessInDoubt if entry.outcome_unknown => 1,
            _ => configured.saturating_sub(self.earlier_attempts).max(1),
        }
    }
}

#[dyn_dispatch_hint]
impl<E: StdError + ProvideErrorMetadata + Send + Sync + 'static> Intercept for AttemptLog<E> {
    fn name(&self) -> &'static str {
        "SqsClientAttemptLog"
    }

    fn read_before_attempt(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let mut entry = self.lock();
        entry.retry_config = entry.retry_config.take().or_else(|| cfg.load::<RetryConfig>().cloned());
        entry.timeouts = cfg.load::<TimeoutConfig>().cloned();
        (entry.status, entry.request_id, entry.retry_after) = (None, None, None);
        entry.latest_was_sent = false;
        Ok(())
    }

    fn read_before_transmit(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let mut entry = self.lock();
        entry.attempts = entry.attempts.saturating_add(1);
        (entry.latest_was_sent, entry.in_progress) = (true, true);
        Ok(())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let mut entry = self.lock();
        let was_sent = std::mem::take(&mut entry.in_progress);
        if let Some(response) = context.response() {
            let text = |name| response.headers().get(name).map(str::to_owned);
            entry.status = Some(response.status().as_u16());
            entry.request_id = text("x-amzn-requestid");
            entry.retry_after =
                text("x-amz-retry-after").and_then(|millis| millis.parse().ok()).map(Duration::from_millis);
        }
        let Some(Err(error)) = context.output_or_error() else { return Ok(()) };
        entry.outcome_unknown |= was_sent
            && match entry.status {
                Some(status) => !(300..500).contains(&status),
                None => !error.as_connector_error().is_some_and(was_never_sent),
            };
        let code = error.as_operation_error().and_then(|error| error.downcast_ref::<E>()?.code());
        if let Some(configured) = entry.retry_config.clone() {
            let code = code.map(ErrorCode::from_name);
            let max_attempts = self.max_attempts(&entry, configured.max_attempts(), code.as_ref());
            // The SDK reads the limit after this hook. It still classifies the failure, which adaptive mode needs.
            cfg.interceptor_state().store_put(configured.with_max_attempts(max_attempts));
        }
        Ok(())
    }
}
