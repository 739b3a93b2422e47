//! The naive evaluator: lists all values of a message with the elements that they are in, and tries every combination.

use serde_json::json;

use super::*;

/// A value of a message. Without a JSON value it exists, but matches no rule.
pub(super) struct Field {
    path: String,
    value: Option<Value>,
    /// All elements, if the value is one of a `String.Array`.
    array: Vec<Value>,
    /// The lists that the value is in, and its index in each.
    elements: Vec<(String, usize)>,
}

/// An entry of a policy that is not decided yet: the path of its object, its key and its value.
type Entry<'a> = (String, &'a str, &'a Value);

pub(super) fn matches_body(policy: &Value, body: &Value) -> bool {
    let mut fields = Vec::new();
    list_fields(body, "", "", &[], &mut fields);
    search(&fields, true, entries(policy, ""), &[], &[])
}

pub(super) fn matches_attributes(policy: &Value, attributes: &AttributeMap) -> bool {
    let mut fields = Vec::new();
    for (name, value) in attributes {
        let Some(text) = value.string_value() else { continue };
        let mut array = Vec::new();
        let values = match value.data_type() {
            "String" => vec![Some(json!(text))],
            "Number" => vec![Some(serde_json::from_str(text).unwrap())],
            _ => match serde_json::from_str(text) {
                Ok(Value::Array(list)) => {
                    array.clone_from(&list);
                    list.into_iter().map(Some).collect()
                }
                Ok(one) => vec![Some(one)],
                Err(_) => vec![None],
            },
        };
        let field = |value| Field { path: name.clone(), value, array: array.clone(), elements: Vec::new() };
        fields.extend(values.into_iter().map(field));
    }
    let has_any = attributes.values().any(|value| value.string_value().is_some());
    search(&fields, has_any, entries(policy, ""), &[], &[])
}

fn entries<'a>(policy: &'a Value, path: &str) -> Vec<Entry<'a>> {
    policy.as_object().unwrap().iter().map(|(key, value)| (path.to_owned(), key.as_str(), value)).collect()
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn list_fields(
    value: &Value,
    path: &str,
    place: &str,
    elements: &[(String, usize)],
    fields: &mut Vec<Field>,
) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                list_fields(value, &join(path, key), &format!("{place}/{key}"), elements, fields);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                let elements = [elements, &[(place.to_owned(), index)]].concat();
                list_fields(value, path, &format!("{place}/{index}"), &elements, fields);
            }
        }
        scalar => {
            let field = Field {
                path: path.to_owned(),
                value: Some(scalar.clone()),
                array: Vec::new(),
                elements: elements.to_vec(),
            };
            fields.push(field);
        }
    }
}

/// Whether the entries can be satisfied in addition to the values and absent paths that were chosen for others.
fn search(
    fields: &[Field],
    may_be_absent: bool,
    mut todo: Vec<Entry<'_>>,
    chosen: &[&Field],
    absent: &[String],
) -> bool {
    let fits = |field: &Field| chosen.iter().all(|other| consistent(field, other));
    let Some((path, key, value)) = todo.pop() else {
        return !fields.iter().any(|field| absent.contains(&field.path) && fits(field));
    };
    if key == "$or" {
        return value.as_array().unwrap().iter().any(|branch| {
            let todo = [todo.clone(), entries(branch, &path)].concat();
            search(fields, may_be_absent, todo, chosen, absent)
        });
    }
    let path = join(&path, key);
    let Value::Array(rules) = value else {
        todo.extend(entries(value, &path));
        return search(fields, may_be_absent, todo, chosen, absent);
    };
    let candidates = fields.iter().filter(|field| field.path == path && fits(field));
    let matches = |field: &&Field| {
        rules.iter().any(|rule| {
            let is_of_one = |value| rule_matches(rule, value);
            field.value.as_ref().is_some_and(is_of_one)
                && (!excludes_texts(rule) || field.array.iter().all(is_of_one))
        })
    };
    candidates
        .filter(matches)
        .any(|field| search(fields, may_be_absent, todo.clone(), &[chosen, &[field]].concat(), absent))
        || (may_be_absent
            && rules.contains(&json!({ "exists": false }))
            && search(
                fields,
                may_be_absent,
                todo.clone(),
                chosen,
                &[absent, std::slice::from_ref(&path)].concat(),
            ))
}

fn consistent(one: &Field, other: &Field) -> bool {
    one.elements.iter().all(|(list, index)| {
        other.elements.iter().all(|(other_list, other_index)| list != other_list || index == other_index)
    })
}

fn rule_matches(rule: &Value, value: &Value) -> bool {
    let Value::Object(expression) = rule else {
        return match (rule.as_f64(), value.as_f64()) {
            (Some(rule), Some(value)) => millionths(rule).total_cmp(&millionths(value)).is_eq(),
            _ => rule == value,
        };
    };
    let (operator, argument) = expression.iter().next().unwrap();
    let texts = || Some((argument.as_str()?, value.as_str()?));
    match operator.as_str() {
        "exists" => argument == &json!(true) && !value.is_null(),
        "anything-but" => match argument {
            Value::Object(inner) => {
                let (operator, argument) = inner.iter().next().unwrap();
                let each = as_list(argument).into_iter().map(|argument| json!({ operator: argument }));
                !each.into_iter().any(|rule| rule_matches(&rule, value))
            }
            list => !as_list(list).iter().any(|rule| rule_matches(rule, value)),
        },
        "numeric" => value.as_f64().is_some_and(|value| in_range(argument.as_array().unwrap(), value)),
        "prefix" | "suffix" if argument.is_object() => {
            let lower = |value: &Value| value.as_str().map(str::to_lowercase);
            let (Some(argument), Some(value)) = (lower(&argument["equals-ignore-case"]), lower(value)) else {
                return false;
            };
            rule_matches(&json!({ operator: argument }), &json!(value))
        }
        "prefix" => texts().is_some_and(|(prefix, value)| value.get(..prefix.len()) == Some(prefix)),
        "suffix" => texts().is_some_and(|(suffix, value)| {
            value.chars().rev().take(suffix.chars().count()).eq(suffix.chars().rev())
        }),
        "equals-ignore-case" => {
            texts().is_some_and(|(one, other)| one.to_lowercase() == other.to_lowercase())
        }
        "wildcard" => texts().is_some_and(|(pattern, value)| wildcard(pattern.as_bytes(), value.as_bytes())),
        "cidr" => texts().is_some_and(|(block, value)| in_block(block, value)),
        other => panic!("{other}"),
    }
}

/// Such a rule must match all elements of an attribute.
fn excludes_texts(rule: &Value) -> bool {
    rule.get("anything-but").is_some_and(|excluded| !as_list(excluded).iter().any(Value::is_number))
}

fn as_list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])
}

fn millionths(number: f64) -> f64 {
    (number * 1e6).round()
}

fn in_range(terms: &[Value], value: f64) -> bool {
    terms.chunks(2).all(|term| {
        let (value, bound) = (millionths(value), millionths(term[1].as_f64().unwrap()));
        match term[0].as_str().unwrap() {
            "=" => value.total_cmp(&bound).is_eq(),
            "<" => value < bound,
            "<=" => value <= bound,
            ">" => value > bound,
            _ => value >= bound,
        }
    })
}

fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], text) => text.is_empty(),
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|skipped| wildcard(rest, &text[skipped..])),
        ([b'\\', escaped, rest @ ..], [first, text @ ..]) => escaped == first && wildcard(rest, text),
        ([letter, rest @ ..], [first, text @ ..]) => letter == first && wildcard(rest, text),
        (_, []) => false,
    }
}

/// Compares the digits of both addresses in binary.
fn in_block(block: &str, address: &str) -> bool {
    let digits = |address: &str| -> Option<String> {
        let parts = address.split('.').map(str::parse::<u8>).collect::<Result<Vec<_>, _>>().ok()?;
        Some(parts.iter().map(|part| format!("{part:08b}")).collect::<Vec<_>>().concat())
    };
    let (base, mask) = block.split_once('/').unwrap();
    let common = mask.parse::<usize>().unwrap();
    let (Some(base), Some(address)) = (digits(base), digits(address)) else { return false };
    address.len() == 32 && base[..common] == address[..common]
}
