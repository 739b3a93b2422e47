//! The JSON extractor.

use std::any::type_name;

use serde::de::DeserializeOwned;

use super::context::MessageContext;
use super::extract::FromMessage;
use crate::consume::outcome::HandlerError;

/// The body of a message, deserialized from JSON.
///
/// If the body is not valid JSON for `T`, the handler fails with an error such as
/// ``the body is not JSON for Order: missing field `id` at line 1 column 2``.
///
/// ```
/// use sqs_buffered::Json;
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     id: u64,
/// }
///
/// async fn cook(Json(order): Json<Order>) {
///     println!("order {}", order.id);
/// }
/// # let _ = cook;
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Json<T>(pub T);

impl<S: Sync, T: DeserializeOwned + Send> FromMessage<S> for Json<T> {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        let body = context.message().body().ok_or("the message has no body")?;
        let value = serde_json::from_str(body);
        value.map(Self).map_err(|error| {
            format!("the body is not JSON for {}: {error}", without_paths(type_name::<T>())).into()
        })
    }
}

/// Removes module paths from a type name: `Vec<Order>` for `alloc::vec::Vec<shop::Order>`.
fn without_paths(name: &str) -> String {
    let parts = name.split_inclusive(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | ':'));
    parts.map(|part| part.rsplit_once("::").map_or(part, |(_, last)| last)).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use sqs_client::types::Message;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Order {
        x: u32,
    }

    async fn read<T: DeserializeOwned + Send>(body: Option<&str>) -> Result<T, String> {
        let mut message = Message::default();
        message.body = body.map(str::to_owned);
        let read = Json::from_message(&MessageContext::new(message), &()).await;
        read.map(|Json(value)| value).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn error_of_invalid_json_names_the_type_and_the_position() {
        assert_eq!(read(Some(r#"{"x":7}"#)).await, Ok(Order { x: 7 }));
        let text = read::<Order>(Some("{}")).await.unwrap_err();
        assert_eq!(text, "the body is not JSON for Order: missing field `x` at line 1 column 2");
        let text = read::<Vec<Order>>(Some("tea")).await.unwrap_err();
        assert_eq!(text, "the body is not JSON for Vec<Order>: expected ident at line 1 column 2");
        assert_eq!(read::<Order>(None).await.unwrap_err(), "the message has no body");
        // serde_json limits its recursion. This body is as deep as its size allows.
        let deep = "[".repeat(1_000_000);
        assert!(read::<serde_json::Value>(Some(&deep)).await.unwrap_err().contains("recursion limit"));
    }

    #[test]
    fn type_names_are_shown_without_paths() {
        let name = "core::result::Result<alloc::vec::Vec<a::b_c::Order<'_>>, (u8, &x::Y)>";
        assert_eq!(without_paths(name), "Result<Vec<Order<'_>>, (u8, &Y)>");
    }
}
