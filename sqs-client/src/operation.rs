//! The 23 operations: one module for each, with its input, output and builders, at the paths of aws-sdk-sqs.
//!
//! Import shapes from here where a signature names them; calls themselves need no import. Everything that is the same for all
//! operations is driven by one table, which is also behind [`Action`], the name of an operation, and [`Operation`], its type.
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
        /// All pages of the list, and all items of them: what `into_paginator()` on the builder gives.
        pub mod paginator {
            #[doc = concat!("All pages of `", stringify!($op), "`.")]
            pub type [<$op Paginator>]<H = crate::Client> = crate::client::Paginator<super::builders::$builder, H>;
            #[doc = concat!("All items of `", stringify!($op), "`.")]
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
            #[doc = "What is here is for signatures that name these types, and for layers over a client."]
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

                #[doc = concat!("Builders of `", stringify!($op), "`: of its input, of its output, and the one that sends itself.")]
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
