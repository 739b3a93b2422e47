//! Permissions: statements of the access policy. See `access` for their effect.

use sqs_client::operation::add_permission::AddPermission;
use sqs_client::operation::remove_permission::RemovePermission;
use sqs_client::wire::validate::Validate;

use super::{Context, Serve, Served, Service};

impl Serve for AddPermission {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let now = service.shared.clock.now();
        let label = input.label().unwrap_or_default();
        queue.with(context, |queue| {
            queue.add_permission(now, label, input.aws_account_ids(), input.actions())
        })??;
        Ok(Self::Output::default())
    }
}

impl Serve for RemovePermission {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let label = input.label().unwrap_or_default();
        queue.with(context, |queue| queue.remove_permission(service.shared.clock.now(), label))??;
        Ok(Self::Output::default())
    }
}
