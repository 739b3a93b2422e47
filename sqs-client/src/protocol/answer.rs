//! In which form a Query request wants its answer.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};

use super::{EncodeError, EncodedResponse, Protocol, query_json};
use crate::operation::Operation;
use crate::service_error::ServiceError;

/// The form of an answer in the Query protocol. AWS JSON has one form, whatever a request accepts.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Answer {
    /// XML, which every client of this protocol reads.
    #[default]
    Xml,
    /// JSON made from the XML, for requests with `Accept: application/json`. Clients that decode answers with
    /// [`Protocol::decode_response`] do not ask for it.
    Json,
}

impl Answer {
    /// Looks at the `Accept` headers of a request.
    ///
    /// JSON is chosen when `application/json` is named and no XML media type is named with the same or a higher
    /// quality. Wildcards name nothing: almost every HTTP client sends them without asking for JSON.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let (mut json, mut xml) = (0.0_f32, 0.0_f32);
        let values = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
        for range in values.flat_map(|value| value.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default().to_ascii_lowercase();
            let quality = parts.find_map(quality).unwrap_or(1.0);
            match media.as_str() {
                query_json::CONTENT_TYPE => json = json.max(quality),
                "text/xml" | "application/xml" => xml = xml.max(quality),
                _ => {}
            }
        }
        if json > xml { Self::Json } else { Self::Xml }
    }
}

/// The value of a parameter `q`; one that is no number counts as 0, so that nothing is chosen by mistake.
fn quality(parameter: &str) -> Option<f32> {
    let (name, value) = parameter.split_once('=')?;
    name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse().unwrap_or(0.0))
}

impl Protocol {
    /// Encodes an answer in the form that the request accepts.
    ///
    /// # Errors
    /// None for the shapes of this crate.
    pub fn encode_response_as<O: Operation>(
        self,
        answer: Answer,
        output: &O::Output,
        request_id: &str,
    ) -> Result<EncodedResponse, EncodeError> {
        match (self, answer) {
            (Self::Query, Answer::Json) => {
                Ok(self.in_json(200, query_json::encode::<O>(output, request_id)?, request_id))
            }
            _ => self.encode_response::<O>(output, request_id),
        }
    }

    /// Encodes a refusal in the form that the request accepts.
    pub fn encode_error_as(self, answer: Answer, error: &ServiceError, request_id: &str) -> EncodedResponse {
        match (self, answer) {
            (Self::Query, Answer::Json) => {
                self.in_json(error.code.status(), query_json::encode_error(error, request_id), request_id)
            }
            _ => self.encode_error(error, request_id),
        }
    }

    fn in_json(self, status: u16, body: Vec<u8>, request_id: &str) -> EncodedResponse {
        let mut headers = self.response_headers(request_id);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(query_json::CONTENT_TYPE));
        EncodedResponse { status, headers, body: body.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service_error::ErrorCode;

    fn chosen(values: &[&'static str]) -> Answer {
        let values = values.iter().map(|value| (ACCEPT, HeaderValue::from_static(value)));
        Answer::from_headers(&values.collect())
    }

    #[test]
    fn json_is_chosen_where_it_is_named() {
        for value in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json, text/plain, */*",
            "text/html, application/json;q=0.1",
            "application/xml;q=0.8 , application/json ; Q = 0.9",
        ] {
            assert_eq!(chosen(&[value]), Answer::Json, "{value}");
        }
        assert_eq!(chosen(&["text/plain", "application/json"]), Answer::Json);
    }

    #[test]
    fn everything_else_means_xml() {
        assert_eq!(chosen(&[]), Answer::Xml);
        for value in [
            "",
            "*/*",
            "application/*",
            "text/xml",
            "application/x-amz-json-1.0",
            "application/json-seq",
            "application/json;q=0",
            "application/json;q=",
            "application/json;q=NaN",
            "application/json, text/xml",
            ";;q=,,=",
        ] {
            assert_eq!(chosen(&[value]), Answer::Xml, "{value}");
        }
    }

    #[test]
    fn aws_json_has_one_form() {
        let error = ServiceError::bare(ErrorCode::QueueDoesNotExist);
        for answer in [Answer::Xml, Answer::Json] {
            let encoded = Protocol::AwsJson.encode_error_as(answer, &error, "id");
            assert_eq!(encoded.body, Protocol::AwsJson.encode_error(&error, "id").body);
            assert_eq!(encoded.headers[CONTENT_TYPE], "application/x-amz-json-1.0");
        }
    }
}
