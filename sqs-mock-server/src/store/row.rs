//! Values as columns.

use rusqlite::types::Type;
use rusqlite::{Connection, Error, Params, Result, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;

/// Runs a statement. It is parsed once for all transactions.
pub(super) fn execute(connection: &Connection, statement: &str, parameters: impl Params) -> Result<()> {
    connection.prepare_cached(statement)?.execute(parameters).map(drop)
}

/// SQLite has no unsigned integers.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn millis(time: Timestamp) -> i64 {
    integer(time.as_millis())
}

/// A value as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::ToSqlConversionFailure(error.into()))
}

pub(super) fn arn(row: &Row<'_>, column: usize) -> Result<Option<QueueArn>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| parse_arn(&text, column)).transpose()
}

pub(super) fn parse_arn(text: &str, column: usize) -> Result<QueueArn> {
    text.parse().map_err(|_| damaged(column, format!("{text:?} is not an ARN")))
}

pub(super) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    let parse =
        |text: String| serde_json::from_str(&text).map_err(|error| damaged(column, error.to_string()));
    text.map(parse).transpose()
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| damaged(column, format!("{number} is negative")))
}

pub(super) fn time(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    timestamp(row.get(column)?, column)
}

pub(super) fn timestamp(millis: i64, column: usize) -> Result<Timestamp> {
    let millis = u64::try_from(millis).map_err(|_| damaged(column, format!("{millis} is not a time")))?;
    Ok(Timestamp::from_millis(millis))
}

/// The error for a column with a value that this server did not write.
pub(super) fn damaged(column: usize, text: String) -> Error {
    Error::FromSqlConversionFailure(column, Type::Null, text.into())
}
