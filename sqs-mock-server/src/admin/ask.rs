//! One admin request.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use http::request::Parts;
use serde::de::DeserializeOwned;

use super::answer::Refusal;
use crate::services::Services;

/// A request whose route is known.
pub(super) struct Ask<'a> {
    pub(super) services: &'a Services,
    pub(super) head: &'a Parts,
    pub(super) body: &'a [u8],
    /// The segment of the path at `{name}`.
    pub(super) name: &'a str,
}

impl<'a> Ask<'a> {
    /// The query parameters. Fails for parameters that are not in `allowed`, and for repeated ones.
    pub(super) fn parameters(&self, allowed: &[&str]) -> Result<Parameters<'a>, Refusal> {
        Parameters::parse(self.head.uri.query().unwrap_or_default().as_bytes(), allowed)
    }

    /// The body as JSON; an empty body counts as `{}`.
    pub(super) fn content<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let body = if self.body.is_empty() { b"{}" } else { self.body };
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(Refusal::bad("the body must be a JSON object"));
        }
        serde_json::from_slice(body).map_err(|error| Refusal::bad(format!("the body: {error}")))
    }
}

/// Decoded parameters of a URL or a form.
#[derive(Debug)]
pub(super) struct Parameters<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Parameters<'a> {
    pub(super) fn parse(text: &'a [u8], allowed: &[&str]) -> Result<Self, Refusal> {
        let mut all: Vec<(Cow<'a, str>, Cow<'a, str>)> = Vec::new();
        for (name, value) in form_urlencoded::parse(text) {
            if !allowed.contains(&&*name) {
                let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
                return Err(Refusal::bad(format!("unknown parameter {name:?}; allowed: {allowed}")));
            }
            if all.iter().any(|(known, _)| *known == name) {
                return Err(Refusal::bad(format!("the parameter {name:?} is repeated")));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The parameter `queue`.
    pub(super) fn required_queue(&self) -> Result<&str, Refusal> {
        let queue = self.get("queue").filter(|queue| !queue.is_empty());
        queue.ok_or_else(|| Refusal::bad("the parameter queue is missing: a name, a URL or an ARN"))
    }

    /// A number within a range; `absent` if the parameter is missing.
    pub(super) fn number(
        &self,
        name: &str,
        range: RangeInclusive<usize>,
        absent: usize,
    ) -> Result<usize, Refusal> {
        let Some(text) = self.get(name) else { return Ok(absent) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (least, most) = range.into_inner();
            Refusal::bad(format!("{name} must be a number from {least} to {most}, not {text:?}"))
        })
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
        let parameters = Parameters::parse(b"queue=a%2Bb&limit=7&deep=TRUE", &["queue", "limit", "deep"]);
        let parameters = parameters.unwrap();
        assert_eq!(parameters.get("queue"), Some("a+b"));
        assert_eq!(parameters.number("limit", 1..=10, 5).unwrap(), 7);
        assert_eq!(parameters.number("skip", 0..=10, 5).unwrap(), 5);
        assert!(refusal(parameters.number("limit", 1..=6, 5)).contains("from 1 to 6, not \\\"7\\\""));
        assert!(truth("deep", "TRUE").unwrap() && !truth("deep", "0").unwrap());
        assert!(refusal(truth("deep", "very")).contains("deep must be true or false, not"));
    }

    #[test]
    fn unknown_and_repeated_parameters_are_rejected_by_name() {
        assert!(refusal(Parameters::parse(b"quue=a", &["queue", "limit"])).contains("allowed: queue, limit"));
        assert!(refusal(Parameters::parse(b"a=1&a=2", &["a"])).contains("repeated"));
        assert!(refusal(Parameters::parse(b"a=1", &[])).contains("allowed: none"));
    }
}
