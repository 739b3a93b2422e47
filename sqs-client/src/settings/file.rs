//! Reads a profile file and parses its sections.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;

use super::ConfigError;

/// Far more than any profile file needs.
const MAX_FILE_BYTES: u64 = 1_048_576;
const BLANK: [char; 2] = [' ', '\t'];

/// `[name]` and the lines up to the next section.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) properties: HashMap<String, Property>,
}

/// `key = value` and the indented lines below it. Values may be secret.
#[derive(Clone)]
pub(super) struct Property {
    pub(super) value: String,
    pub(super) file: Arc<Path>,
    pub(super) line: usize,
    pub(super) nested: HashMap<String, Property>,
}

impl std::fmt::Debug for Property {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// Reads a text file of bounded size. Returns `None` if the file does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let failed = |why: &str| ConfigError::new(format!("{} cannot be read: {why}", path.display()));
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error.to_string())),
    };
    // Reading a pipe or a terminal could block forever. `/dev/null` is a common way to configure "no file".
    if !metadata.is_file() {
        let is_null = path == Path::new("/dev/null");
        return if is_null { Ok(None) } else { Err(failed("it is not a regular file")) };
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(&error.to_string()))?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error.to_string()))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(failed(&format!("it is longer than {MAX_FILE_BYTES} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes().iter().take(good).filter(|byte| **byte == b'\n').count();
        ConfigError::new(format!("{}:{line}: the line is not UTF-8 text", path.display()))
    })
}

/// Reads a file at its default path. A folder that cannot be entered, such as `/root/.aws` for another user in a
/// container, counts as a missing file.
pub(super) fn read_default(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotADirectory) => {
            tracing::warn!(file = %path.display(), %error, "the directory of the file is not accessible; ignoring the file");
            Ok(None)
        }
        _ => read(path),
    }
}

/// Parses the text into sections. Errors name the number of an invalid line but never quote it: it may contain a secret.
pub(super) fn parse(file: &Arc<Path>, text: &str) -> Result<Vec<Section>, ConfigError> {
    let mut sections: Vec<Section> = Vec::new();
    let mut last: Option<String> = None;
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let number = index + 1;
        let wrong = |why: &str| ConfigError::new(format!("{}:{number}: {why}", file.display()));
        let trimmed = line.trim_matches(BLANK);
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(['#', ';']).next().unwrap_or_default().trim_matches(BLANK);
            let name = header.strip_suffix(']').map(|name| name.trim_matches(BLANK));
            let name = name.filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| wrong("expected a section such as [default] or [profile name]"))?;
            sections.push(Section { name: name.to_owned(), properties: HashMap::new() });
            last = None;
            continue;
        }
        let Some(section) = sections.last_mut() else {
            return Err(wrong("expected a section such as [default] before the first setting"));
        };
        let is_continued = line.starts_with(BLANK);
        let property = |text: &str| {
            let (key, value) = split(text)?;
            let nested = HashMap::new();
            Some((key, Property { value, file: Arc::clone(file), line: number, nested }))
        };
        if !is_continued {
            let (key, property) = property(line).ok_or_else(|| wrong("expected a setting: key = value"))?;
            section.properties.insert(key.clone(), property);
            last = Some(key);
            continue;
        }
        let parent = last.as_ref().and_then(|key| section.properties.get_mut(key));
        let parent = parent.ok_or_else(|| wrong("an indented line must follow a setting"))?;
        if parent.value.is_empty() {
            let (key, nested) =
                property(line).ok_or_else(|| wrong("expected a nested setting: key = value"))?;
            parent.nested.insert(key, nested);
        } else {
            parent.value.push('\n');
            parent.value.push_str(trimmed);
        }
    }
    Ok(sections)
}

/// The key in lower case and the value without comment.
fn split(line: &str) -> Option<(String, String)> {
    let mut previous = ' ';
    let comment = line.char_indices().find(|(_, character)| {
        let begins = matches!(character, '#' | ';') && BLANK.contains(&previous);
        previous = *character;
        begins
    });
    let line = comment.and_then(|(at, _)| line.get(..at)).unwrap_or(line);
    let (key, value) = line.split_once('=')?;
    let key = key.trim_matches(BLANK).to_ascii_lowercase();
    (!key.is_empty()).then(|| (key, value.trim_matches(BLANK).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Section>, ConfigError> {
        parse(&Path::new("config").into(), text)
    }

    fn value(text: &str, key: &str) -> Option<String> {
        Some(parsed(text).expect("valid").last()?.properties.get(key)?.value.clone())
    }

    #[test]
    fn comments_blank_lines_and_upper_case_keys_are_accepted() {
        let text =
            "\u{feff}# top\r\n[default] ; why\r\n\r\nREGION = eu-west-1 # here\r\nkey=a#b=c==\r\nempty =\r\n";
        assert_eq!(value(text, "region").as_deref(), Some("eu-west-1"));
        assert_eq!(value(text, "key").as_deref(), Some("a#b=c=="));
        assert_eq!(value(text, "empty").as_deref(), Some(""));
    }

    #[test]
    fn indented_lines_are_nested_settings_or_continue_a_value() {
        let sections =
            parsed("[services x]\nsqs =\n  endpoint_url = http://h\n  # note\n[default]\na = 1\n  2\n");
        let sections = sections.expect("valid");
        assert_eq!(sections[0].properties["sqs"].nested["endpoint_url"].value, "http://h");
        assert_eq!(sections[0].properties["sqs"].nested["endpoint_url"].line, 3);
        assert_eq!(sections[1].properties["a"].value, "1\n2");
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(\\[a\\]|\n|\r| |\t|=|#|;|\\[|\\]|\\PC){0,40}") {
            let _ = parsed(&text);
        }
    }

    #[test]
    fn error_of_malformed_line_has_its_number_and_no_quote() {
        for (text, line, expected) in [
            ("secret", 1, "before the first setting"),
            ("[default]\n\nsecret", 3, "key = value"),
            ("[default]\n= secret", 2, "key = value"),
            ("[default\nsecret = 1", 1, "expected a section"),
            ("[]", 1, "expected a section"),
            ("[default]\n  secret = 1", 2, "must follow a setting"),
            ("[default]\ns3 =\n  secret", 3, "nested setting"),
        ] {
            let error = parsed(text).expect_err("malformed").to_string();
            assert!(error.starts_with(&format!("config:{line}: ")) && error.contains(expected), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
