//! Finds the protocol and the action of a request, without decoding its input.

use http::request::Parts;
use sqs_client::operation::{Action, Input};
use sqs_client::wire::protocol::{DecodeError, Detected, Form, Protocol};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// A request whose action is known.
pub(super) enum Call<'a> {
    /// AWS JSON: the body is the input.
    AwsJson(Action, &'a [u8]),
    /// The Query protocol: the form is the input.
    Query(Action, Form<'a>),
}

/// The reason why a request has no action.
#[derive(Debug)]
pub(super) enum NoCall {
    /// The request is invalid.
    Refused(ServiceError),
    /// The URL of a queue without an action, as opened in a browser.
    NoAction,
}

impl From<ServiceError> for NoCall {
    fn from(error: ServiceError) -> Self {
        Self::Refused(error)
    }
}

impl<'a> Call<'a> {
    /// Finds the action. `form` is the text of [`form_text`](crate::http::form_text).
    pub(super) fn read(
        detected: &Detected,
        head: &Parts,
        body: &'a [u8],
        form: &'a [u8],
    ) -> Result<Self, NoCall> {
        match detected {
            Detected::AwsJson(Ok(action)) => Ok(Self::AwsJson(*action, body)),
            Detected::AwsJson(Err(_)) => Err(ServiceError::bare(ErrorCode::UnknownOperation).into()),
            Detected::Query => {
                Self::read_form(head.uri.path(), Form::parse(form).map_err(|error| malformed(&error))?)
            }
        }
    }

    fn read_form(path: &str, form: Form<'a>) -> Result<Self, NoCall> {
        match form.action() {
            None => Err(NoCall::NoAction),
            Some(Ok(Action::ListQueues | Action::CreateQueue)) if path != "/" => {
                Err(invalid_action(&form).into())
            }
            Some(Ok(action)) => Ok(Self::Query(action, form)),
            Some(Err(_)) => Err(invalid_action(&form).into()),
        }
    }

    /// The action.
    pub(super) fn action(&self) -> Action {
        match self {
            Self::AwsJson(action, _) | Self::Query(action, _) => *action,
        }
    }

    /// The protocol of the request and its response.
    pub(super) fn protocol(&self) -> Protocol {
        match self {
            Self::AwsJson(..) => Protocol::AwsJson,
            Self::Query(..) => Protocol::Query,
        }
    }

    /// A parameter of the form; AWS JSON has none.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        match self {
            Self::AwsJson(..) => None,
            Self::Query(_, form) => form.get(name),
        }
    }

    /// Decodes the input.
    pub(super) fn input<I: Input>(self) -> Result<I, ServiceError> {
        let input = match self {
            Self::AwsJson(_, body) => Protocol::AwsJson.decode_request(body),
            Self::Query(_, form) => form.read(),
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
