//! The 23 operations with their shapes, builders and errors, at the same paths as in aws-sdk-sqs.

pub use aws_types::request_id::RequestId;

/// The paginators of the two list operations.
macro_rules! paginator {
    (list_queues) => {
        paginator!(@ ListQueues list_queues);
    };
    (list_dead_letter_source_queues) => {
        paginator!(@ ListDeadLetterSourceQueues list_dead_letter_source_queues);
    };
    (@ $op:ident $module:ident) => { pastey::paste! {
        /// The paginator that `into_paginator()` on the builder returns.
        pub mod paginator {
            use sqs_client::operation::$module::paginator::{[<$op Paginator>] as Pages, [<$op PaginatorItems>] as Items};

            #[doc = concat!("Requests all pages of `", stringify!($op), "`.")]
            pub type [<$op Paginator>] = Pages<crate::Client>;
            #[doc = concat!("Yields the items of all pages of `", stringify!($op), "`.")]
            pub type [<$op PaginatorItems>] = Items<crate::Client>;
        }
    } };
    ($module:ident) => {};
}

macro_rules! modules {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $special:tt, $doc:literal; )*) => { pastey::paste! { $(
        #[doc = concat!("Shapes, builders and errors of `", stringify!($op), "`. ", $doc)]
        ///
        #[doc = concat!(
            "Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_",
            stringify!($op),
            ".html>"
        )]
        pub mod $module {
            pub use sqs_client::operation::$module::{$op, [<$op Input>], [<$op Output>]};
            pub use crate::error::operations::[<$op Error>];

            paginator!($module);

            #[doc = concat!("Builders of `", stringify!($op), "`: for its input, for its output, and the fluent builder.")]
            pub mod builders {
                pub use sqs_client::operation::$module::builders::{[<$op InputBuilder>], [<$op OutputBuilder>]};

                #[doc = concat!("Builds a `", stringify!($op), "` request and sends it.")]
                pub type [<$op FluentBuilder>] = sqs_client::types::FluentBuilder<[<$op InputBuilder>], crate::Client>;
            }
        }
    )* } };
}

sqs_client::for_each_operation!(modules);
