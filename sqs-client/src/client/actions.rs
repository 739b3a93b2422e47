//! One method for each action.

use super::Client;
use crate::types::FluentBuilder;
use crate::wire::model::for_each_operation;

macro_rules! actions {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $sums:tt, $doc:literal; )*) => {
        pastey::paste! {
            /// The 23 actions.
            impl Client {
                $(
                    #[doc = $doc]
                    pub fn $module(&self) -> FluentBuilder<crate::types::$family::[<$op InputBuilder>], Self> {
                        FluentBuilder::new(self.clone())
                    }
                )*
            }

            $(
                impl crate::types::$family::[<$op InputBuilder>] {
                    /// Builds the input and sends the request with `client`.
                    ///
                    /// # Errors
                    /// The same as `send` on the fluent builder.
                    ///
                    /// # Cancel safety
                    /// The same as `send` on the fluent builder.
                    pub async fn send_with<H: super::Call<crate::wire::model::$op>>(
                        self,
                        client: &H,
                    ) -> Result<crate::types::$family::[<$op Output>], H::Error> {
                        FluentBuilder::from_parts(self, client.clone()).send().await
                    }
                }
            )*
        }
    };
}

for_each_operation!(actions);
