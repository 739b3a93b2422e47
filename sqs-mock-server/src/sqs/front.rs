//! SQS over HTTP: both protocols, the 23 actions with their faults, and the errors. [`front`](crate::front) has the way of a
//! request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use sqs_client::operation::{Action, Input, Operation};
use sqs_client::wire::protocol::{DecodeError, Detected, EncodedResponse, Form, Protocol};
use sqs_client::wire::service_error::{ErrorCode, Fault as Blame, ServiceError};
use sqs_client::wire::sign::VerifyError;

use crate::control::arn::{QueueArn, Resource};
use crate::control::caller::{Caller, is_trusted, name_of_caller, scheme};
use crate::control::clock::Timestamp;
use crate::control::faults::fault::{Damage, FailingEntry, Failure, Plan, ReceiveChange};
use crate::control::faults::{Request, Rule};
use crate::control::journal::Ending;
use crate::control::metrics::Exposition;
use crate::control::operation::ServiceName;
use crate::control::session::AccountId;
use crate::front::{Access, Answered, Api, Asked, Failed, Front, Incoming, Observer, Told, enter};
use crate::http::body::{BodyError, Limits};
use crate::http::guard::{Denied, Names};
use crate::http::reply::Reply;
use crate::sqs::engine::throughput::Metered;
use crate::sqs::metrics::Metrics;
use crate::sqs::ops::access::Cause;
use crate::sqs::ops::{Context, Serve, Trace, message};
use crate::sqs::queue_url::{QueueUrlStyle, Styled, check_url};
use crate::sqs::service::Service;
use crate::sqs::{metrics, query_json};

/// SQS without a transport.
#[derive(Debug)]
pub(crate) struct Endpoint {
    service: Arc<Service>,
    names: Arc<Names>,
    /// How queue URLs name the region, unless there is a public URL.
    pub(crate) queue_url_style: QueueUrlStyle,
    metrics: Metrics,
}

impl Endpoint {
    /// Creates the HTTP layer of a service.
    pub(crate) fn new(service: Arc<Service>, names: Arc<Names>, queue_url_style: QueueUrlStyle) -> Self {
        Self { service, names, queue_url_style, metrics: Metrics::new() }
    }

    /// The base of queue URLs in a region, for callers that use this scheme and host.
    pub(crate) fn base_url(&self, scheme: &str, host: &str, region: &str) -> String {
        match &self.names.public_url {
            Some(url) => url.clone(),
            None => self.queue_url_style.base(scheme, host, region),
        }
    }

    /// The context of an operation. If the caller does not name a region, the host may.
    pub(crate) fn context(&self, head: &Parts, caller: Caller<'_>, protocol: Protocol) -> Context {
        let host = self.names.host(head);
        let of_host = || Some(Styled::of(host)?.region);
        let named = caller.region.or_else(of_host);
        let region = named.unwrap_or(&self.names.region);
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        let is_query = protocol == Protocol::Query;
        let path = Some(head.uri.path()).filter(|path| is_query && *path != "/");
        Context {
            account: caller.account.as_ref().map_or(&*self.names.account, AccountId::as_str).to_owned(),
            region: region.to_owned(),
            is_default_region: named.is_none(),
            base_url: self.base_url(scheme(head), host, region),
            public_url: self.names.public_url.clone(),
            is_query,
            entry_without_id: None,
            request_url: path.map(|path| format!("{}://{host}{path}", scheme(head))),
            trace_header: trace_header.map(str::to_owned),
            failing: Vec::new(),
            is_trusted: is_trusted(head),
            is_retry: self.service.is_strict() && is_retry(head),
            redeliver: false,
            caller: if self.service.faults().has_schedule() { name_of_caller(head) } else { "".into() },
            number: head.extensions.get().copied(),
            receive: ReceiveChange::default(),
            trace: Trace::default(),
        }
    }

    /// The metrics of requests and queues.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn metrics(&self) -> Exposition {
        metrics::render(&self.metrics, &self.service).await
    }

    /// Counts a connection as open until the returned guard is dropped.
    pub(crate) fn count_connection(&self) -> impl Drop + '_ {
        self.metrics.connections.enter()
    }

    /// The service.
    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    /// The settings.
    pub(crate) fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// The error for a request whose body could not be read.
    pub(crate) fn refuse_body(
        &self,
        front: &Front,
        head: &Parts,
        error: BodyError,
        limits: &Limits,
    ) -> Reply {
        let (status, code, message) = match error {
            BodyError::TooLong => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestEntityTooLarge",
                format!("Request bodies must not be longer than {} bytes.", limits.max_body),
            ),
            BodyError::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "RequestTimeout",
                "The request body did not arrive in time.".to_owned(),
            ),
            BodyError::Broken => (
                StatusCode::BAD_REQUEST,
                "MalformedInput",
                "The request body is incomplete or malformed.".to_owned(),
            ),
            BodyError::OutOfMemory => (
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                "Too many large requests are in progress.".to_owned(),
            ),
        };
        let style = Style::of(&Detected::from_headers(&head.headers), head);
        self.refuse_unread(front, head, style, status, (code, message))
    }

    /// The error for a request to a service that the server does not have.
    pub(crate) fn refuse_service(
        &self,
        front: &Front,
        head: &Parts,
        protocol: &Detected,
        message: String,
    ) -> Reply {
        let style = Style::of(protocol, head);
        let error = ("InvalidAction", message);
        let mut reply = self.refuse_unread(front, head, style, StatusCode::BAD_REQUEST, error);
        if style.protocol == Protocol::AwsJson
            && let Some(headers) = reply.headers_mut()
        {
            // Clients of REST services do not read the code in the body.
            let name = HeaderValue::from_static("UnknownOperationException");
            headers.insert("x-amzn-errortype", name);
        }
        reply
    }

    fn refuse_unread(
        &self,
        front: &Front,
        head: &Parts,
        style: Style,
        status: StatusCode,
        (code, message): (&str, String),
    ) -> Reply {
        let request_id = self.service.request_id();
        let mut observer = front.observe(self, &request_id, head, style.protocol, b"");
        observer.refused(&ErrorCode::from_name(code), Some(&message));
        let reply = refuse_with_status(style, status, code, message, &request_id).into();
        observer.end(&reply);
        reply
    }
}

/// Whether the request is a retry of an AWS SDK, as in `amz-sdk-request: attempt=2; max=3`.
fn is_retry(head: &Parts) -> bool {
    let request = head.headers.get("amz-sdk-request").and_then(|value| value.to_str().ok());
    let attempt = request.and_then(|text| {
        text.split(';').find_map(|part| part.trim().strip_prefix("attempt=")?.parse::<u32>().ok())
    });
    attempt.is_some_and(|attempt| attempt > 1)
}

impl Api for Endpoint {
    const SERVICE: ServiceName = ServiceName::Sqs;
    type Style = Style;
    type Action = Action;
    type Context = Context;
    type Error = Refusal;

    fn request_id(&self) -> String {
        self.service.request_id()
    }

    fn style(head: &Parts) -> (Style, Protocol) {
        let style = Style::of(&Detected::from_headers(&head.headers), head);
        (style, style.protocol)
    }

    async fn respond(
        &self,
        request: Incoming<'_>,
        style: Style,
        observer: &mut Observer<'_, Self>,
    ) -> Answered<Refusal> {
        let Incoming { head, body, form } = request;
        let call = Call::read(style, head, body, form)?;
        let (action, changes) = (call.action, self.service.changes(call.action));
        let access = if changes { Access::Change } else { Access::Read };
        let identity = observer.admit(Asked { action, name: action.as_str(), access }, request)?;
        let in_url = call.form.as_ref().and_then(|form| form.get("X-Amz-Credential"));
        let context = self.context(head, identity.caller(head, in_url), style.protocol);
        let entry_without_id = call.form.as_ref().and_then(|form| form.entry_without_id(action));
        let request_id = observer.request_id;
        let context = observer.caller(Context { entry_without_id, ..context });
        // Changes that cannot be stored would wait in memory without bound.
        if changes {
            self.service.check_store()?;
        }
        let dispatched = dispatch(&self.service, context, call, style, request_id).await;
        let settled = self.service.settled().await;
        match (dispatched, settled) {
            (Ok((_, damage)) | Err(Failed::Refused(_, damage)), Err(not_stored)) => {
                Err(Failed::Refused(not_stored.into(), damage))
            }
            (dispatched, _) => dispatched,
        }
    }

    fn denied(&self, denied: Denied, head: &Parts) -> Refusal {
        match denied {
            Denied::Guard(text) => ServiceError::new(ErrorCode::AccessDenied, text),
            Denied::Signature(error) => {
                wrong_signature(&error, Caller::of(head).region.unwrap_or(&self.names.region))
            }
        }
        .into()
    }

    fn refuse(style: Style, error: &Refusal, request_id: &str) -> Response<Bytes> {
        match error {
            Refusal::Error(error) => refuse(style, error, request_id),
            Refusal::MethodNotAllowed => method_not_allowed(style, request_id),
            Refusal::NoAction => no_action(),
        }
    }

    fn describe(error: &Refusal) -> (ErrorCode, Option<&str>) {
        match error {
            Refusal::Error(error) => (error.code.clone(), error.message.as_deref()),
            Refusal::MethodNotAllowed => (ErrorCode::from_name("MethodNotAllowed"), None),
            Refusal::NoAction => (ErrorCode::from_name("NoAction"), None),
        }
    }

    fn told(context: &Context) -> Told<'_> {
        let Context { account, region, trace, caller, .. } = context;
        Told { name: caller, account, region, queue: trace.queue(), topic: None, waited: trace.waited() }
    }

    fn warnings(context: &Context) -> Box<[String]> {
        context.trace.warnings()
    }

    fn count(&self, action: Option<Action>, ending: &Ending, took: Duration, waited: Option<Duration>) {
        self.metrics.record(action, ending, took);
        if let Some(waited) = waited {
            self.metrics.waits.observe(waited);
        }
    }
}

/// Describes a request for faults.
pub(crate) fn request<'a, O: Serve>(
    context: &'a Context,
    input: &'a O::Input,
    time: Timestamp,
) -> Request<'a> {
    let queue = queue::<O>(context, input);
    Request {
        service: ServiceName::Sqs,
        operation: O::ACTION.as_str(),
        account: &context.account,
        region: &context.region,
        time,
        entries: O::entries(input),
        // FIFO queues deliver a message again only after its visibility timeout.
        can_redeliver: O::ACTION == Action::ReceiveMessage && !queue.as_ref().is_some_and(QueueArn::is_fifo),
        caller: &context.caller,
        number: context.number,
        resource: queue.map(Resource::Queue),
    }
}

/// The queue that a request addresses, whether it exists or not.
fn queue<O: Serve>(context: &Context, input: &O::Input) -> Option<QueueArn> {
    let text = O::queue(input).or(context.request_url.as_deref())?;
    let account = O::owner(input).unwrap_or(&context.account);
    Some(QueueArn::named(text, &context.region, account))
}

/// The injected error of a request.
pub(crate) fn error<O: Serve>(failure: Failure, context: &Context, input: &O::Input) -> ServiceError {
    let code = failure.code.map_or(ErrorCode::RequestThrottled, |code| ErrorCode::from_name(&code));
    let message = failure.message.unwrap_or_else(|| match code {
        ErrorCode::AccessDenied => denial::<O>(context, input),
        _ => default_text(&code, O::ACTION).to_owned(),
    });
    ServiceError::new(code, message)
}

/// The injected error of an entry.
pub(crate) fn entry<O: Serve>(
    failing: FailingEntry,
    context: &Context,
    input: &O::Input,
) -> (usize, message::Failure) {
    let error = error::<O>(failing.failure, context, input);
    let sender_fault = failing.sender_fault.unwrap_or(error.code.fault() == Blame::Sender);
    (failing.index, message::Failure { error, sender_fault })
}

/// The text that AWS sends to callers without a policy for the action.
fn denial<O: Serve>(context: &Context, input: &O::Input) -> String {
    let Context { account, region, .. } = context;
    let queue = queue::<O>(context, input).unwrap_or_else(|| QueueArn::new(region, account, ""));
    Cause::NoIdentityPolicy.text(account, O::ACTION, &queue)
}

/// The text of SQS, where logs of AWS show it.
fn default_text(code: &ErrorCode, action: Action) -> &'static str {
    match (code, action) {
        (
            ErrorCode::RequestThrottled,
            Action::ChangeMessageVisibility | Action::ChangeMessageVisibilityBatch,
        ) => Metered::ChangeVisibility.throttle_text(),
        (ErrorCode::RequestThrottled, _) => Metered::Send.throttle_text(),
        (ErrorCode::KmsAccessDenied, _) => {
            "The ciphertext refers to a customer master key that does not exist, does not exist in this region, or you \
             are not allowed to access. (Service: AWSKMS; Status Code: 400; Error Code: AccessDeniedException; Request \
             ID: 00000000-0000-0000-0000-000000000000; Proxy: null)"
        }
        _ => "This failure was injected.",
    }
}

/// A request whose action is known.
pub(crate) struct Call<'a> {
    pub(crate) action: Action,
    body: &'a [u8],
    /// The input in the Query protocol; in AWS JSON, the body is the input.
    form: Option<Form<'a>>,
}

/// Why SQS refuses a request.
#[derive(Debug)]
pub(crate) enum Refusal {
    Error(ServiceError),
    /// Neither GET nor POST.
    MethodNotAllowed,
    /// The URL of a queue without an action, as opened in a browser.
    NoAction,
}

impl From<ServiceError> for Refusal {
    fn from(error: ServiceError) -> Self {
        Self::Error(error)
    }
}

impl From<ServiceError> for Failed<Refusal> {
    fn from(error: ServiceError) -> Self {
        Self::Refused(error.into(), None)
    }
}

impl<'a> Call<'a> {
    /// Finds the action. `form` is the text of [`form_text`](crate::http::body::form_text).
    pub(crate) fn read(style: Style, head: &Parts, body: &'a [u8], form: &'a [u8]) -> Result<Self, Refusal> {
        if head.method != Method::POST && head.method != Method::GET {
            return Err(Refusal::MethodNotAllowed);
        }
        if style.protocol == Protocol::AwsJson {
            let unknown = || ServiceError::bare(ErrorCode::UnknownOperation);
            return Ok(Self { action: style.target.ok_or_else(unknown)?, body, form: None });
        }
        let form = Form::parse(form).map_err(|error| malformed(&error))?;
        match form.action().ok_or(Refusal::NoAction)? {
            Ok(Action::ListQueues | Action::CreateQueue) if head.uri.path() != "/" => {
                Err(invalid_action(&form).into())
            }
            Ok(action) => Ok(Self { action, body, form: Some(form) }),
            Err(_) => Err(invalid_action(&form).into()),
        }
    }

    /// Decodes the input.
    pub(crate) fn input<I: Input>(self) -> Result<I, ServiceError> {
        let input = match self.form {
            None => Protocol::AwsJson.decode_request(self.body),
            Some(form) => form.read(),
        };
        input.map_err(|error| malformed(&error))
    }
}

fn malformed(error: &DecodeError) -> ServiceError {
    ServiceError::new(ErrorCode::MalformedInput, error.to_string())
}

fn invalid_action(form: &Form<'_>) -> ServiceError {
    let action = form.get("Action").unwrap_or_default();
    ServiceError::new(
        ErrorCode::UnknownOperation,
        format!("The action {action} is not valid for this endpoint."),
    )
}

/// Has one arm for each operation; a missing one is a compile error.
macro_rules! by_action {
    ($action:expr, $run:ident $arguments:tt; $( $operation:ident in $module:ident; )*) => {
        match $action {
            $( Action::$operation => $run::<sqs_client::operation::$module::$operation> $arguments.await, )*
        }
    };
}

/// Decodes the input, runs the operation and encodes its output in the protocol of the request and the form that it
/// accepts. Faults may reject the request or damage the response.
pub(crate) async fn dispatch(
    service: &Service,
    context: &mut Context,
    call: Call<'_>,
    style: Style,
    request_id: &str,
) -> Answered<Refusal> {
    by_action! { call.action, run(service, context, call, style, request_id);
        AddPermission in add_permission;
        CancelMessageMoveTask in cancel_message_move_task;
        ChangeMessageVisibility in change_message_visibility;
        ChangeMessageVisibilityBatch in change_message_visibility_batch;
        CreateQueue in create_queue;
        DeleteMessage in delete_message;
        DeleteMessageBatch in delete_message_batch;
        DeleteQueue in delete_queue;
        GetQueueAttributes in get_queue_attributes;
        GetQueueUrl in get_queue_url;
        ListDeadLetterSourceQueues in list_dead_letter_source_queues;
        ListMessageMoveTasks in list_message_move_tasks;
        ListQueueTags in list_queue_tags;
        ListQueues in list_queues;
        PurgeQueue in purge_queue;
        ReceiveMessage in receive_message;
        RemovePermission in remove_permission;
        SendMessage in send_message;
        SendMessageBatch in send_message_batch;
        SetQueueAttributes in set_queue_attributes;
        StartMessageMoveTask in start_message_move_task;
        TagQueue in tag_queue;
        UntagQueue in untag_queue;
    }
}

async fn run<O: Serve>(
    service: &Service,
    context: &mut Context,
    call: Call<'_>,
    style: Style,
    request_id: &str,
) -> Answered<Refusal> {
    let input = call.input::<O::Input>()?;
    if let Some(region) = context.region_of(O::queue(&input).or(context.request_url.as_deref())) {
        context.region = region;
    }
    check_url(service, context, O::queue(&input).or(context.request_url.as_deref()))?;
    let plan = if context.is_trusted {
        Plan::default()
    } else {
        service.faults().plan(|| request::<O>(context, &input, service.clock().now()))
    };
    plan.applied.iter().for_each(|name| context.trace.note(name.clone()));
    enter(service.faults(), &plan).await.map_err(|stopped| {
        stopped.into_failed(
            // The client does not retry this error.
            || context.no_such_queue().into(),
            |failure| error::<O>(failure, context, &input).into(),
        )
    })?;
    let redelivery = Redelivery(plan.redeliver);
    (context.redeliver, context.receive) = (!redelivery.0.is_empty() || plan.receive.repeats, plan.receive);
    let failing = plan.failing.into_iter().map(|failing| entry::<O>(failing, context, &input));
    context.failing = failing.collect();
    let mut damage = plan.damage;
    let served = O::serve(service, context, input).await;
    if let Err(ServiceError {
        code: ErrorCode::QueueDeletedRecently | ErrorCode::PurgeQueueInProgress, ..
    }) = &served
    {
        context.trace.note("the setting one_minute_rules, or strict, refuses this as AWS does".to_owned());
    }
    if !plan.jump.is_zero() {
        service.clock().advance(plan.jump);
    }
    if served.as_ref().is_ok_and(O::delivers) {
        redelivery.delivered(&context.trace);
    }
    let encoded = served.and_then(|mut output| {
        O::omit(&mut output, &plan.omitted);
        if damage == Some(Damage::Corrupted) && O::corrupt(&mut output) {
            damage = None;
        }
        style.output::<O>(&output, request_id)
    });
    service.faults().delays().delay(plan.pause).await;
    match encoded {
        Ok(encoded) => Ok((answer(encoded), damage)),
        Err(error) => Err(Failed::Refused(error.into(), damage)),
    }
}

/// Faults that redeliver the messages of a receive. On drop, their hits are reverted: the receive was refused, aborted, or
/// found nothing.
struct Redelivery(Vec<Arc<Rule>>);

impl Redelivery {
    fn delivered(mut self, trace: &Trace) {
        self.0.drain(..).for_each(|rule| trace.note(rule.name()));
    }
}

impl Drop for Redelivery {
    fn drop(&mut self) {
        self.0.iter().for_each(|rule| rule.take_back());
    }
}

/// The protocol of a response and, for the Query protocol, its format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) protocol: Protocol,
    /// Whether a Query response is JSON instead of XML.
    in_json: bool,
    /// The action that the headers of AWS JSON name, if there is one.
    target: Option<Action>,
}

impl Style {
    /// The style that the headers of a request select.
    pub(crate) fn of(detected: &Detected, head: &Parts) -> Self {
        match detected {
            Detected::AwsJson(action) => {
                Self { protocol: Protocol::AwsJson, in_json: false, target: action.as_ref().ok().copied() }
            }
            Detected::Query => {
                let in_json = query_json::is_accepted(&head.headers);
                Self { protocol: Protocol::Query, in_json, target: None }
            }
        }
    }

    /// Encodes an output.
    pub(crate) fn output<O: Operation>(
        self,
        output: &O::Output,
        request_id: &str,
    ) -> Result<EncodedResponse, ServiceError> {
        let encoded = if self.in_json {
            query_json::encode::<O>(output, request_id).map_err(|error| error.to_string())
        } else {
            self.protocol.encode_response::<O>(output, request_id).map_err(|error| error.to_string())
        };
        encoded
            .map_err(|error| ServiceError::new(ErrorCode::InternalFailure, format!("{}: {error}", O::ACTION)))
    }
}

/// Converts an encoded response to HTTP.
pub(crate) fn answer(encoded: EncodedResponse) -> Response<Bytes> {
    let mut response = Response::new(encoded.body);
    *response.status_mut() =
        StatusCode::from_u16(encoded.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = encoded.headers;
    response
}

/// An error with the status of its code.
pub(crate) fn refuse(style: Style, error: &ServiceError, request_id: &str) -> Response<Bytes> {
    answer(if style.in_json {
        query_json::encode_error(error, request_id)
    } else {
        style.protocol.encode_error(error, request_id)
    })
}

/// An error that has an HTTP status but no SQS code. In AWS JSON, its `__type` has the namespace that AWS uses for
/// codes that are not shapes of the service; the Query protocol has the code as is.
pub(crate) fn refuse_with_status(
    style: Style,
    status: StatusCode,
    code: &str,
    message: impl Into<String>,
    request_id: &str,
) -> Response<Bytes> {
    let error = ServiceError::new(ErrorCode::from_name(code), message);
    let mut response = refuse(style, &error, request_id);
    *response.status_mut() = status;
    if let (Protocol::AwsJson, ErrorCode::Other(code)) = (style.protocol, &error.code) {
        let type_name = format!("com.amazon.coral.service#{code}Exception");
        let body = serde_json::json!({ "__type": type_name, "message": error.message });
        *response.body_mut() = body.to_string().into();
    }
    response
}

/// The response to methods other than GET and POST.
pub(crate) fn method_not_allowed(style: Style, request_id: &str) -> Response<Bytes> {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let message = "Only GET and POST are supported.";
    let mut response = refuse_with_status(style, status, "MethodNotAllowed", message, request_id);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
    response
}

/// The response to a request without an action, such as opening a queue URL in a browser. The response of AWS to
/// requests that accept JSON is not recorded; they get the same one.
pub(crate) fn no_action() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"<UnknownOperationException/>\n"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/xml"));
    response
}

/// The error of a request with a wrong signature.
pub(crate) fn wrong_signature(error: &VerifyError, region: &str) -> ServiceError {
    let code = match error {
        VerifyError::Unsigned => {
            let message = format!("Access to the resource https://sqs.{region}.amazonaws.com/ is denied.");
            return ServiceError::new(ErrorCode::AccessDenied, message);
        }
        VerifyError::UnknownKey => ErrorCode::InvalidClientTokenId,
        VerifyError::ExpiredToken => ErrorCode::ExpiredToken,
        VerifyError::Incomplete(_) => ErrorCode::IncompleteSignature,
        _ => ErrorCode::SignatureDoesNotMatch,
    };
    ServiceError::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
    use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch;
    use sqs_client::operation::receive_message::ReceiveMessage;
    use sqs_client::operation::send_message::SendMessage;
    use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchInput};

    use super::*;

    fn failure(code: &str) -> Failure {
        Failure { code: Some(code.to_owned()), message: None }
    }

    fn text<O: Serve<Input: Default>>(failure: Failure) -> String {
        error::<O>(failure, &Context::default(), &O::Input::default()).message.unwrap_or_default()
    }

    /// From logs of AWS.
    #[test]
    fn throttled_and_denied_requests_get_the_texts_of_sqs() {
        let throttled = || Failure { code: None, message: None };
        assert_eq!(text::<SendMessage>(throttled()), "Request is throttled.");
        let expected = "Request throttled because message visibility configuration was updated too recently. Wait a \
                        short while and then retry the operation.";
        assert_eq!(text::<ChangeMessageVisibility>(throttled()), expected);
        assert_eq!(text::<ChangeMessageVisibilityBatch>(failure("RequestThrottled")), expected);
        let own = Failure { message: Some("own words".to_owned()), ..throttled() };
        assert_eq!(text::<ChangeMessageVisibility>(own), "own words");
        let denied = text::<ReceiveMessage>(failure("KmsAccessDenied"));
        let begin = "The ciphertext refers to a customer master key that does not exist, does not exist in this \
                     region, or you are not allowed to access. (Service: AWSKMS; Status Code: 400; Error Code: \
                     AccessDeniedException;";
        assert!(denied.starts_with(begin) && denied.ends_with("; Proxy: null)"), "{denied}");
    }

    #[test]
    fn code_determines_sender_fault_unless_the_fault_sets_it() {
        let is_sender_fault = |code, sender_fault| {
            let failing = FailingEntry { index: 0, failure: failure(code), sender_fault };
            entry::<SendMessageBatch>(failing, &Context::default(), &SendMessageBatchInput::default())
                .1
                .sender_fault
        };
        assert!(!is_sender_fault("InternalFailure", None));
        assert!(is_sender_fault("InvalidMessageContents", None));
        assert!(is_sender_fault("InternalFailure", Some(true)));
    }
}
