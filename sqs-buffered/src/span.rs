//! The attributes of spans, with the names of OpenTelemetry's conventions for messaging
//! (<https://opentelemetry.io/docs/specs/semconv/messaging/sqs/>).

/// A span of an operation on messages: level and name, kind, operation and its type, queue URL, and further attributes.
macro_rules! messaging_span {
    ($level:ident $name:literal, $kind:literal, $operation:expr, $of_type:expr, $queue_url:expr, $($more:tt)*) => {
        tracing::span!(
            tracing::Level::$level,
            $name,
            otel.kind = $kind,
            messaging.system = "aws_sqs",
            messaging.operation.name = $operation,
            messaging.operation.type = $of_type,
            messaging.destination.name = $crate::span::queue_name($queue_url),
            $($more)*
        )
    };
}

pub(crate) use messaging_span;

/// The name of a queue: the last part of its URL.
pub(crate) fn queue_name(queue_url: &str) -> &str {
    queue_url.rsplit('/').next().unwrap_or_default()
}
