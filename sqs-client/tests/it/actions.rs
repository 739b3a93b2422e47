//! The 23 actions as methods of any client that implements `Execute`.

use sqs_client::client::Execute;
use sqs_client::types::FluentBuilder;

macro_rules! actions {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $special:tt, $doc:literal; )*) => { pastey::paste! {
        pub(crate) trait Actions: Execute {
            $(
                fn $module(&self) -> sqs_client::operation::$module::builders::[<$op FluentBuilder>]<Self> {
                    FluentBuilder::new(self.clone())
                }
            )*
        }
    }};
}

sqs_client::for_each_operation!(actions);

impl<H: Execute> Actions for H {}
