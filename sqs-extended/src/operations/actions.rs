//! The action methods of the plain client.

use sqs_client::client::{Execute, Queue};
use sqs_client::types::FluentBuilder;

use crate::client::ExtendedClient;

macro_rules! actions {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $special:tt, $doc:literal; )*) => {
        pastey::paste! {
            /// The 23 actions, with the builders of the plain client.
            impl<H: Execute> ExtendedClient<H> {
                $(
                    #[doc = $doc]
                    pub fn $module(&self) -> sqs_client::operation::$module::builders::[<$op FluentBuilder>]<Self> {
                        FluentBuilder::new(self.clone())
                    }
                )*
            }
        }
    };
}

sqs_client::for_each_operation!(actions);

impl<H: Execute> ExtendedClient<H> {
    /// A handle of one queue for common calls.
    pub fn queue(&self, url: impl Into<String>) -> Queue<Self> {
        Queue::new(self.clone(), url)
    }
}
