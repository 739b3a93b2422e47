//! Writes XML, and responses with it.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use crate::query::QueryError;

const X_AMZN_REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");

/// The initial capacity in bytes. Most responses fit.
const CAPACITY: usize = 512;

/// XML elements.
#[derive(Debug)]
pub(crate) struct Xml(String);

impl Default for Xml {
    fn default() -> Self {
        Self(String::with_capacity(CAPACITY))
    }
}

impl Xml {
    /// An element with text.
    pub(crate) fn leaf(&mut self, name: &str, text: &str) {
        self.element(name, |inside| inside.text(text));
    }

    /// An element with text, unless there is none.
    pub(crate) fn optional(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.leaf(name, text);
        }
    }

    /// An element with elements.
    pub(crate) fn element(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.open(name, [], write);
    }

    /// A list, which is present even if it is empty.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        write: impl Fn(&mut Self, T),
    ) {
        self.element(name, |list| {
            for item in items {
                list.element("member", |member| write(member, item));
            }
        });
    }

    /// A map of texts.
    pub(crate) fn map<K: AsRef<str>, V: AsRef<str>>(
        &mut self,
        name: &str,
        entries: impl IntoIterator<Item = (K, V)>,
    ) {
        self.element(name, |map| {
            for (key, value) in entries {
                map.element("entry", |entry| {
                    entry.leaf("key", key.as_ref());
                    entry.leaf("value", value.as_ref());
                });
            }
        });
    }

    fn open<const N: usize>(&mut self, name: &str, attributes: [&str; N], write: impl FnOnce(&mut Self)) {
        self.0.extend(["<", name]);
        self.0.extend(attributes);
        self.0.push('>');
        let empty = self.0.len();
        write(self);
        if self.0.len() == empty {
            self.0.truncate(empty - 1);
            self.0.push_str("/>");
        } else {
            self.0.extend(["</", name, ">"]);
        }
    }

    fn text(&mut self, text: &str) {
        // Such as ids and ARNs.
        if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.: /".contains(&byte)) {
            return self.0.push_str(text);
        }
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                // XML parsers convert a literal CR to LF, but keep a character reference.
                '\r' => self.0.push_str("&#xD;"),
                '\t' | '\n' | ' '..='\u{FFFD}' | '\u{10000}'.. => self.0.push(character),
                // XML 1.0 has no way to write these.
                _ => self.0.push('\u{FFFD}'),
            }
        }
    }
}

/// Writes the response to one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document<'a> {
    pub(crate) namespace: &'static str,
    pub(crate) request_id: &'a str,
}

impl Document<'_> {
    /// The response of an action: its result element, if it has one, and the request id.
    pub(crate) fn answer(self, action: &str, result: Option<&Xml>) -> Response<Bytes> {
        self.write(StatusCode::OK, &format!("{action}Response"), |root| {
            if let Some(result) = result {
                root.element(&format!("{action}Result"), |inside| inside.0.push_str(&result.0));
            }
            root.element("ResponseMetadata", |metadata| metadata.leaf("RequestId", self.request_id));
        })
    }

    /// An error.
    pub(crate) fn error(self, error: &QueryError) -> Response<Bytes> {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.write(status, "ErrorResponse", |root| {
            root.element("Error", |inside| {
                inside.leaf("Type", if error.is_of_sender() { "Sender" } else { "Receiver" });
                inside.leaf("Code", &error.code);
                inside.leaf("Message", &error.message);
            });
            root.leaf("RequestId", self.request_id);
        })
    }

    fn write(self, status: StatusCode, root: &str, inside: impl FnOnce(&mut Xml)) -> Response<Bytes> {
        let mut xml = Xml::default();
        xml.open(root, [" xmlns=\"", self.namespace, "\""], inside);
        let mut response = Response::new(Bytes::from(xml.0));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/xml"));
        if let Ok(id) = HeaderValue::try_from(self.request_id) {
            headers.insert(X_AMZN_REQUEST_ID, id);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_empty_lists_are_present() {
        let mut xml = Xml::default();
        xml.leaf("Message", "a<b> & \"c\"\r\n\u{1}");
        xml.list("Tags", Vec::<&str>::new(), |member, text| member.leaf("Key", text));
        xml.list("Topics", ["t"], |member, text| member.leaf("TopicArn", text));
        xml.map("Attributes", [("k", "")]);
        let expected = "<Message>a&lt;b&gt; &amp; &quot;c&quot;&#xD;\n\u{FFFD}</Message><Tags/>\
                        <Topics><member><TopicArn>t</TopicArn></member></Topics>\
                        <Attributes><entry><key>k</key><value/></entry></Attributes>";
        assert_eq!(xml.0, expected);
    }
}
