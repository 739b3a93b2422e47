//! One admin request: its parameters, its body, and the page of a list that it asks for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use http::request::Parts;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::answer::Refusal;
use crate::services::Services;
use crate::sqs::ops::Service;

/// The maximum and the default number of entries on a page.
const MOST: usize = 1000;
const DEFAULT: usize = 100;

/// A request whose route is known.
pub(super) struct Ask<'a> {
    pub(super) services: &'a Services,
    pub(super) head: &'a Parts,
    pub(super) body: &'a [u8],
    /// The segment of the path at `{name}`.
    pub(super) name: &'a str,
    pub(super) parameters: Parameters<'a>,
}

impl<'a> Ask<'a> {
    pub(super) fn sqs(&self) -> &'a Service {
        self.services.sqs.service()
    }

    /// The body as JSON; an empty body counts as `{}`.
    pub(super) fn content<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let body = if self.body.is_empty() { b"{}" } else { self.body };
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(Refusal::bad("the body must be a JSON object"));
        }
        serde_json::from_slice(body).map_err(|error| Refusal::bad(format!("the body: {error}")))
    }

    /// The account and region of the parameters; the server's own by default.
    pub(super) fn home(&self) -> (&str, &str) {
        let names = self.services.sqs.names();
        let region = self.parameters.get("region").unwrap_or(&names.region);
        (region, self.parameters.get("account").unwrap_or(&names.account))
    }
}

/// The decoded parameters of a URL.
#[derive(Debug, Default)]
pub(super) struct Parameters<'a>(BTreeMap<Cow<'a, str>, Cow<'a, str>>);

impl<'a> Parameters<'a> {
    /// Fails for repeated parameters, and for parameters that are not in `allowed`, such as `skip&limit`.
    pub(super) fn parse(text: &'a [u8], allowed: &str) -> Result<Self, Refusal> {
        let mut all = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(text) {
            if name.is_empty() || !allowed.split('&').any(|known| known == name) {
                let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.replace('&', ", ") };
                return Err(Refusal::bad(format!("unknown parameter {name:?}; allowed: {allowed}")));
            }
            if all.contains_key(&name) {
                return Err(Refusal::bad(format!("the parameter {name:?} is repeated")));
            }
            all.insert(name, value);
        }
        Ok(Self(all))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| &**value)
    }

    /// A parameter that must not be empty; `hint` says what it can be.
    pub(super) fn required(&self, name: &str, hint: &str) -> Result<&str, Refusal> {
        let given = self.get(name).filter(|value| !value.is_empty());
        given.ok_or_else(|| Refusal::bad(format!("the parameter {name} is missing{hint}")))
    }

    /// A number within a range.
    pub(super) fn number(&self, name: &str, range: RangeInclusive<usize>) -> Result<Option<usize>, Refusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            let (least, most) = range.into_inner();
            Refusal::bad(format!("{name} must be a number from {least} to {most}, not {text:?}"))
        })
    }

    /// The page of `skip` and `limit`.
    pub(super) fn page(&self) -> Result<Page, Refusal> {
        let skip = self.number("skip", 0..=usize::MAX)?.unwrap_or(0);
        Ok(Page { skip, limit: self.number("limit", 1..=MOST)?.unwrap_or(DEFAULT) })
    }
}

/// A part of a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Page {
    pub(super) skip: usize,
    pub(super) limit: usize,
}

impl Page {
    /// The entries of this page.
    pub(super) fn of<T>(self, all: &[T]) -> impl Iterator<Item = &T> {
        all.iter().skip(self.skip).take(self.limit)
    }

    /// The entries of this page, counted back from the latest one, which is the last of `all`. The oldest comes first.
    pub(super) fn latest<T>(self, all: &[T]) -> impl Iterator<Item = &T> {
        let end = all.len().saturating_sub(self.skip);
        all.iter().take(end).skip(end.saturating_sub(self.limit))
    }

    /// The response with this page of a list that has `total` entries on all pages. `next` is the `skip` of the next page;
    /// it is absent on the last page.
    pub(super) fn part<T: Serialize>(
        self,
        list: &str,
        total: usize,
        entries: impl Iterator<Item = T>,
    ) -> Value {
        let mut part = json!({ "total": total, (list): entries.collect::<Vec<_>>() });
        let next = self.skip.saturating_add(self.limit);
        if next < total {
            part["next"] = next.into();
        }
        part
    }
}

/// Parses a boolean.
pub(super) fn truth(name: &str, text: &str) -> Result<bool, Refusal> {
    match text {
        _ if text.eq_ignore_ascii_case("true") || text == "1" => Ok(true),
        _ if text.eq_ignore_ascii_case("false") || text == "0" => Ok(false),
        _ => Err(Refusal::bad(format!("{name} must be true or false, not {text:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    fn refusal<T: std::fmt::Debug>(result: Result<T, Refusal>) -> String {
        let response = result.unwrap_err().into_response();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        String::from_utf8(response.into_body().to_vec()).unwrap()
    }

    #[test]
    fn parameters_are_decoded_and_checked() {
        let parameters = Parameters::parse(b"queue=a%2Bb&limit=7&deep=TRUE", "queue&limit&deep");
        let parameters = parameters.unwrap();
        assert_eq!(parameters.get("queue"), Some("a+b"));
        assert_eq!(parameters.number("limit", 1..=10).unwrap(), Some(7));
        assert_eq!(parameters.number("skip", 0..=10).unwrap(), None);
        assert!(refusal(parameters.number("limit", 1..=6)).contains("from 1 to 6, not \\\"7\\\""));
        assert!(truth("deep", "TRUE").unwrap() && !truth("deep", "0").unwrap());
        assert!(refusal(truth("deep", "very")).contains("deep must be true or false, not"));
    }

    #[test]
    fn unknown_and_repeated_parameters_are_rejected_by_name() {
        assert!(refusal(Parameters::parse(b"quue=a", "queue&limit")).contains("allowed: queue, limit"));
        assert!(refusal(Parameters::parse(b"a=1&a=2", "a")).contains("repeated"));
        for text in ["a=1", "=1"] {
            assert!(refusal(Parameters::parse(text.as_bytes(), "")).contains("allowed: none"), "{text}");
        }
    }
}
