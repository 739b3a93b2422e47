//! Permissions: statements of the access policy. See `access` for their effect.

use sqs_client::operation::Operation as _;
use sqs_client::operation::add_permission::{AddPermission, AddPermissionInput, AddPermissionOutput};
use sqs_client::operation::remove_permission::{
    RemovePermission, RemovePermissionInput, RemovePermissionOutput,
};
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::Validate;

use super::{Context, Serve, Service};

impl Serve for AddPermission {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: AddPermissionInput,
    ) -> Result<AddPermissionOutput, ServiceError> {
        let queue = service.queue(context, Self::ACTION, &mut input.queue_url)?;
        input.validate()?;
        let now = service.shared.clock.now();
        let label = input.label().unwrap_or_default();
        queue.with(context, |queue| {
            queue.add_permission(now, label, input.aws_account_ids(), input.actions())
        })??;
        Ok(AddPermissionOutput::default())
    }
}

impl Serve for RemovePermission {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: RemovePermissionInput,
    ) -> Result<RemovePermissionOutput, ServiceError> {
        let queue = service.queue(context, Self::ACTION, &mut input.queue_url)?;
        input.validate()?;
        let label = input.label().unwrap_or_default();
        queue.with(context, |queue| queue.remove_permission(service.shared.clock.now(), label))??;
        Ok(RemovePermissionOutput::default())
    }
}
