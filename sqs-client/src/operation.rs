//! The 23 operations. Each has a module with its input, output and builders, at the same path as in aws-sdk-sqs.
//!
//! Import shapes from here if a signature names them; calls need no import. [`Action`] is the name of an operation as a
//! value, [`Operation`] is the operation as a type.
//!
//! ```
//! use sqs_client::operation::send_message::{SendMessageInput, SendMessageOutput};
//! use sqs_client::operation::{Action, RequestId};
//!
//! fn show(output: &SendMessageOutput) -> Option<(&str, &str)> {
//!     Some((output.message_id()?, output.request_id()?))
//! }
//!
//! let input = SendMessageInput::builder().queue_url("http://localhost:9324/0/orders").message_body("tea").build()?;
//! assert_eq!(input.message_body(), Some("tea"));
//! assert_eq!(Action::from_name("SendMessage"), Some(Action::SendMessage));
//! # Ok::<(), sqs_client::error::BuildError>(())
//! ```

pub use crate::types::{MaybeRepeated, RequestId};
#[cfg(feature = "aws-sdk-sqs")]
#[doc(hidden)]
pub use crate::wire::model::SdkResult;
pub use crate::wire::model::{Action, Input, InputBuilder, Operation, Output};

/// The paginators of the two list actions, where aws-sdk-sqs has them.
macro_rules! paginator {
    (ListQueues $builder:ident) => {
        paginator!(@ ListQueues $builder);
    };
    (ListDeadLetterSourceQueues $builder:ident) => {
        paginator!(@ ListDeadLetterSourceQueues $builder);
    };
    (@ $op:ident $builder:ident) => { pastey::paste! {
        /// The paginator that `into_paginator()` on the builder returns.
        pub mod paginator {
            #[doc = concat!("Requests all pages of `", stringify!($op), "`.")]
            pub type [<$op Paginator>]<H = crate::Client> = crate::client::Paginator<super::builders::$builder, H>;
            #[doc = concat!("Yields the items of all pages of `", stringify!($op), "`.")]
            pub type [<$op PaginatorItems>]<H = crate::Client> =
                crate::client::PaginatorItems<super::builders::$builder, H>;
        }
    }};
    ($op:ident $builder:ident) => {};
}

macro_rules! modules {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $special:tt, $doc:literal; )*) => { pastey::paste! {
        $(
            #[doc = concat!("Shapes and builders of `", stringify!($op), "`. ", $doc)]
            #[doc = ""]
            #[doc = concat!("[`Client::", stringify!($module), "`](crate::Client::", stringify!($module), ") makes the call.")]
            #[doc = "Use this module to name the types in signatures, and to write layers over a client."]
            #[doc = ""]
            #[doc = concat!(
                "Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_",
                stringify!($op),
                ".html>"
            )]
            pub mod $module {
                pub use crate::wire::model::$op;
                pub use crate::types::$family::{[<$op Input>], [<$op Output>]};

                paginator!($op [<$op InputBuilder>]);

                #[cfg(feature = "aws-config")]
                impl aws_types::request_id::RequestId for [<$op Output>] {
                    fn request_id(&self) -> Option<&str> {
                        crate::types::RequestId::request_id(self)
                    }
                }

                #[doc = concat!("Builders of `", stringify!($op), "`: for its input, for its output, and the fluent builder.")]
                pub mod builders {
                    pub use crate::types::$family::{[<$op InputBuilder>], [<$op OutputBuilder>]};

                    #[doc = concat!("Builds a `", stringify!($op), "` request and sends it.")]
                    pub type [<$op FluentBuilder>]<H = crate::Client> =
                        crate::types::FluentBuilder<[<$op InputBuilder>], H>;
                }
            }
        )*
    }};
}

crate::wire::model::for_each_operation!(modules);
