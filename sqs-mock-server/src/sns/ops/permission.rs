//! Permissions: statements of the policy of a topic. They are stored, not enforced.

use super::Sns;
use super::topic::find;
use crate::query::{Call, Output};
use crate::service::query_error::QueryError;

pub(super) fn add(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let label = call.form.required("Label")?;
    let (accounts, actions) = (call.form.list("AWSAccountId"), call.form.list("ActionName"));
    find(sns, call)?.lock().add_permission(label, &accounts, &actions)?;
    Ok(Output::none())
}

pub(super) fn remove(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let label = call.form.required("Label")?;
    find(sns, call)?.lock().remove_permission(label)?;
    Ok(Output::none())
}
