//! A fault of a config file: what `/_mock/faults` takes as JSON, as a table.

use serde_json::{Number, Value};
use toml::de::DeValue;

use super::value::{Read, integer};
use crate::service::faults::Fault;

/// A whole table as a fault.
pub(super) fn fault(value: &DeValue<'_>) -> Read<Fault> {
    if !value.is_table() {
        return Err("it has to be a table".to_owned());
    }
    let json = json(value).map_err(|error| format!("not a fault: {error}"))?;
    Fault::from_json(json).map_err(|error| error.to_string())
}

fn json(value: &DeValue<'_>) -> Read<Value> {
    Ok(match value {
        DeValue::String(text) => Value::from(&**text),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Integer(number) => Value::from(whole(value).ok_or_else(|| too_large(number))?),
        DeValue::Float(number) => {
            let float = number.as_str().parse().ok().and_then(Number::from_f64);
            Value::from(float.ok_or_else(|| format!("{number} is no number of JSON"))?)
        }
        DeValue::Array(values) => values.iter().map(|value| json(value.get_ref())).collect::<Read<_>>()?,
        DeValue::Table(table) => {
            let entries =
                table.iter().map(|(key, value)| Ok((key.get_ref().to_string(), json(value.get_ref())?)));
            Value::Object(entries.collect::<Read<_>>()?)
        }
    })
}

fn whole(value: &DeValue<'_>) -> Option<Number> {
    Number::from_i128(integer(value)?)
}

fn too_large(number: &impl std::fmt::Display) -> String {
    format!("{number} is too large")
}
