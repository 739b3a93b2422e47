//! Runs actions for the settings of the server, without a caller.

use super::Sns;
use crate::query::{Call, Form};
use crate::service::arn::TopicArn;
use crate::service::operation::SnsAction;
use crate::service::query_error::QueryError;
use crate::sns::engine::protocol::Endpoint;
use crate::sns::engine::subscription::State;

impl Sns {
    /// Runs an action in a region and an account. Does not wait until its changes are stored.
    ///
    /// # Errors
    /// Those of the action.
    pub(crate) fn set_up(
        &self,
        action: SnsAction,
        form: &Form,
        (region, account): (&str, &str),
    ) -> Result<(), QueryError> {
        let call = Call {
            form,
            account,
            region,
            base_url: "",
            trace_header: None,
            is_signed: true,
            failing: &[],
            omitted: &[],
        };
        self.run(action, &call).map(drop)
    }

    /// Subscribes an endpoint. It needs no confirmation: nobody could follow the link.
    ///
    /// # Errors
    /// Those of `Subscribe`.
    pub(crate) fn set_up_subscription(
        &self,
        form: &Form,
        topic: &TopicArn,
        endpoint: &Endpoint,
        account: &str,
    ) -> Result<(), QueryError> {
        let caller = (&*topic.region, account);
        self.set_up(SnsAction::Subscribe, form, caller)?;
        let pending = self.topics.get(topic)?.lock().subscriptions(self.clock.now()).find_map(|known| {
            match &known.state {
                State::Pending { token, .. } if known.endpoint == *endpoint => Some(token.clone()),
                _ => None,
            }
        });
        let Some(token) = pending else { return Ok(()) };
        let form = Form::new([("TopicArn", &*topic.to_string()), ("Token", &*token)]);
        self.set_up(SnsAction::ConfirmSubscription, &form, caller)
    }
}
