//! The console: a page in the binary that uses this API.
//!
//! ```text
//! GET /               of a browser's address bar -> /_mock/console/
//! GET /_mock/console/ and the files of src/console, compressed once, when they are first asked for
//! ```

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderMap, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use include_dir::{Dir, File, include_dir};
use parking_lot::Mutex;

use super::answer::{Answered, Refusal};
use crate::services::Services;

/// The path of the console.
pub(super) const ROOT: &str = "/_mock/console";
const HOME: HeaderValue = HeaderValue::from_static("/_mock/console/");
/// Nothing from elsewhere, and no script in the page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/console");
/// The compressed files, by path.
static COMPRESSED: Mutex<BTreeMap<&Path, Bytes>> = Mutex::new(BTreeMap::new());

fn compressed(file: &'static File<'_>) -> Bytes {
    let compress = || {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let written = encoder.write_all(file.contents()).and_then(|()| encoder.finish());
        // Writing to memory cannot fail.
        written.map(Bytes::from).unwrap_or_default()
    };
    COMPRESSED.lock().entry(file.path()).or_insert_with(compress).clone()
}

fn content_type(file: &File<'_>) -> &'static str {
    match file.path().extension().and_then(OsStr::to_str) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "text/javascript; charset=utf-8",
    }
}

/// Whether a request comes from the address bar of a browser, which names no action.
pub(crate) fn is_of_address_bar(services: &Services, head: &Parts) -> bool {
    let is_root = head.method == Method::GET && head.uri.path() == "/" && head.uri.query().is_none();
    is_root && services.has_console && accepts(&head.headers, &ACCEPT, "text/html")
}

/// Sends a browser to the console.
pub(crate) fn to_console() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::FOUND;
    response.headers_mut().insert(LOCATION, HOME);
    response
}

/// `GET /_mock/console/..`.
pub(super) fn file(services: &Services, head: &Parts) -> Answered {
    if !services.has_console {
        return Err(Refusal::not_found("this server has no console; --no-console turned it off"));
    }
    let path = head.uri.path().strip_prefix(ROOT).and_then(|path| path.strip_prefix('/'));
    let Some(path) = path else { return Ok(to_console()) };
    let path = if path.is_empty() { "index.html" } else { path };
    let file = FILES
        .get_file(path)
        .ok_or_else(|| Refusal::not_found(format!("the console has no file {path:?}")))?;
    let mut response = Response::new(Bytes::new());
    let fixed = [
        (CONTENT_TYPE, HeaderValue::from_static(content_type(file))),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (VARY, HeaderValue::from_static("accept-encoding")),
    ];
    response.headers_mut().extend(fixed);
    if accepts(&head.headers, &ACCEPT_ENCODING, "gzip") {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        *response.body_mut() = compressed(file);
    } else {
        *response.body_mut() = Bytes::from_static(file.contents());
    }
    Ok(response)
}

/// Whether a list in a header has a value that is not refused.
fn accepts(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case(value))
            && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(directory: &Path, prefix: &str, all: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
            if entry.path().is_dir() {
                found(&entry.path(), &format!("{name}/"), all);
            } else {
                all.push(name);
            }
        }
    }

    fn files(directory: &'static Dir<'_>) -> Vec<&'static File<'static>> {
        directory.files().chain(directory.dirs().flat_map(files)).collect()
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let mut all = Vec::new();
        found(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/console"), "", &mut all);
        all.sort();
        let mut served: Vec<_> = files(&FILES).iter().map(|file| file.path().to_str().unwrap()).collect();
        served.sort_unstable();
        assert_eq!(served, all);
    }

    #[test]
    fn files_have_at_most_100_kb_in_transit() {
        let bytes: usize = files(&FILES).into_iter().map(|file| compressed(file).len()).sum();
        assert!(bytes <= 100_000, "{bytes}");
    }

    #[test]
    fn weight_of_zero_refuses_an_encoding() {
        let accepts = |value| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            super::accepts(&headers, &ACCEPT_ENCODING, "gzip")
        };
        assert!(accepts("br, GZIP;q=0.5") && accepts("gzip"));
        assert!(!accepts("gzip;q=0") && !accepts("br") && !accepts(""));
    }
}
