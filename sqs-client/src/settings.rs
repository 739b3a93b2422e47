//! Settings from environment variables and the shared profile files, with the place of each setting.
//!
//! ```text
//! variable -> profile in ~/.aws/credentials -> profile in ~/.aws/config
//! ```
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Environment variables and the selected profile.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    variables: Variables,
    profiles: Profiles,
    selected: String,
}

/// A setting and its place: `AWS_REGION`, or `region` with file and line.
#[derive(Clone)]
pub(crate) struct Setting {
    pub(crate) value: String,
    pub(crate) place: String,
}

impl Settings {
    /// Reads the files. The profile is `selected`, else `AWS_PROFILE`, else `default`. Only this implicit `default` may be
    /// missing.
    pub(crate) fn load(variables: &Variables, selected: Option<&str>) -> Result<Self, ConfigError> {
        let profiles = Profiles::load(variables)?;
        let chosen = selected.map(str::to_owned).or_else(|| variables.text("AWS_PROFILE"));
        if let Some(name) = &chosen {
            profiles.require(name)?;
        }
        let selected = chosen.unwrap_or_else(|| "default".to_owned());
        Ok(Self { variables: variables.clone(), profiles, selected })
    }

    pub(crate) fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// The name of the selected profile. Only the implicit `default` may be missing.
    pub(crate) fn selected(&self) -> &str {
        &self.selected
    }

    /// The variable, else the key of the selected profile.
    pub(crate) fn get(&self, variable: &str, key: &str) -> Option<Setting> {
        self.variable(variable).or_else(|| self.profiles.get(&self.selected)?.get(key))
    }

    /// The region, also of a source profile: a profile with a role often has only the role and its source.
    pub(crate) fn region(&self) -> Option<String> {
        let found = self.variable("AWS_REGION").or_else(|| self.variable("AWS_DEFAULT_REGION"));
        found.or_else(|| self.region_of_profiles()).map(|setting| setting.value)
    }

    fn region_of_profiles(&self) -> Option<Setting> {
        let (mut name, mut visited) = (self.selected.clone(), Vec::new());
        while !visited.contains(&name) {
            let profile = self.profiles.get(&name)?;
            if let Some(region) = profile.get("region") {
                return Some(region);
            }
            let source = profile.get("source_profile")?.value;
            visited.push(std::mem::replace(&mut name, source));
        }
        None
    }

    /// The path in a setting, with a leading `~/` replaced by the home directory.
    pub(crate) fn path(&self, setting: &Setting) -> PathBuf {
        self.variables.expanded(&setting.value)
    }

    pub(crate) fn flag(&self, variable: &str, key: &str) -> Result<Option<bool>, ConfigError> {
        self.get(variable, key).map(|setting| setting.flag()).transpose()
    }

    /// The endpoint URL of a service, which is named as in `AWS_ENDPOINT_URL_SQS`. Variables override the profile, and
    /// service-specific settings override general ones.
    pub(crate) fn endpoint_url(&self, service: &str) -> Result<Option<String>, ConfigError> {
        if self.flag("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls")? == Some(true)
        {
            return Ok(None);
        }
        let of_profile = || {
            let profile = self.profiles.get(&self.selected)?;
            let of_service = || self.profiles.endpoint_of_service(profile, &service.to_ascii_lowercase());
            of_service().or_else(|| profile.get("endpoint_url"))
        };
        let found = self.variable(&format!("AWS_ENDPOINT_URL_{service}"));
        let found = found.or_else(|| self.variable("AWS_ENDPOINT_URL")).or_else(of_profile);
        let is_valid = |setting: &Setting| crate::endpoint::is_url(&setting.value);
        match found {
            Some(setting) if !is_valid(&setting) => {
                Err(setting.invalid("an absolute http or https URL such as http://localhost:9324"))
            }
            found => Ok(found.map(|setting| setting.value)),
        }
    }

    fn variable(&self, name: &str) -> Option<Setting> {
        self.variables.text(name).map(|value| Setting { value, place: name.to_owned() })
    }
}

impl Setting {
    pub(crate) fn flag(&self) -> Result<bool, ConfigError> {
        match self.value.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.invalid("true or false")),
        }
    }

    pub(crate) fn parse<T: FromStr>(&self, allowed: &str) -> Result<T, ConfigError> {
        self.value.parse().map_err(|_| self.invalid(allowed))
    }

    /// Quotes the value, so use it only for settings that are not secret.
    pub(crate) fn invalid(&self, allowed: &str) -> ConfigError {
        let value = crate::endpoint::redacted(&self.value);
        ConfigError::new(format!("{}={value:?} is invalid; allowed is {allowed}", self.place))
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setting").field("place", &self.place).finish_non_exhaustive()
    }
}

/// An environment variable or profile file is invalid. The text names the variable, or the file and line, and what is
/// allowed. It contains no secret. Cloning is cheap.
#[derive(Clone, Eq, PartialEq)]
pub struct ConfigError(Arc<str>);

impl ConfigError {
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text of `Display`, because `main` prints `Debug` when it returns an error.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks up environment variables.
#[derive(Clone)]
pub(crate) struct Variables(Arc<Lookup>);

impl Variables {
    pub(crate) fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// Reads the variables of the process at each lookup.
    pub(crate) fn of_process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// The trimmed value. An empty value counts as unset.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The path in the variable, else the default path below the home directory.
    pub(crate) fn path(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        match self.text(name) {
            Some(path) => Some(self.expanded(&path)),
            None => self.home().map(|home| home.join(below_home)),
        }
    }

    /// The path with a leading `~/` replaced by the home directory.
    pub(crate) fn expanded(&self, path: &str) -> PathBuf {
        let below_home = path.strip_prefix("~/").and_then(|rest| Some(self.home()?.join(rest)));
        below_home.unwrap_or_else(|| PathBuf::from(path))
    }

    fn home(&self) -> Option<PathBuf> {
        let found = self.text("HOME").or_else(|| self.text("USERPROFILE"));
        found.or_else(|| Some(self.text("HOMEDRIVE")? + &self.text("HOMEPATH")?)).map(PathBuf::from)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}

/// The maximum number of profile names in an error.
const MAX_NAMES: usize = 10;
const CONFIG_FILE: &str = "AWS_CONFIG_FILE";
const CREDENTIALS_FILE: &str = "AWS_SHARED_CREDENTIALS_FILE";

/// All profiles and `services` sections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiles {
    by_name: HashMap<String, Profile>,
    services: HashMap<String, Profile>,
    config: Option<PathBuf>,
    credentials: Option<PathBuf>,
}

/// One profile. `Debug` shows the places of its settings, not their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile(HashMap<String, Property>);

impl Profiles {
    /// Reads `AWS_CONFIG_FILE` and `AWS_SHARED_CREDENTIALS_FILE`, or the files in `~/.aws`. A missing file is an empty one,
    /// as is one in a `~/.aws` that cannot be entered.
    pub(crate) fn load(variables: &Variables) -> Result<Self, ConfigError> {
        let mut loaded = Self {
            config: variables.path(CONFIG_FILE, ".aws/config"),
            credentials: variables.path(CREDENTIALS_FILE, ".aws/credentials"),
            ..Self::default()
        };
        let mut plain_default = None;
        for Section { name, properties } in sections(variables, CONFIG_FILE, loaded.config.as_deref())? {
            match name.split_once([' ', '\t']).map(|(kind, name)| (kind, name.trim())) {
                Some(("profile", name)) => merge(&mut loaded.by_name, name, properties),
                Some(("services", name)) => merge(&mut loaded.services, name, properties),
                None if name == "default" => {
                    plain_default.get_or_insert_with(Profile::default).0.extend(properties);
                }
                // Sections of other tools, and config sections without the word `profile`. Other SDKs ignore them too.
                _ => {}
            }
        }
        // If a file has both, `[profile default]` overrides `[default]`.
        if let Some(profile) = plain_default {
            loaded.by_name.entry("default".to_owned()).or_insert(profile);
        }
        for Section { name, properties } in
            sections(variables, CREDENTIALS_FILE, loaded.credentials.as_deref())?
        {
            merge(&mut loaded.by_name, &name, properties);
        }
        Ok(loaded)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Profile> {
        self.by_name.get(name)
    }

    /// The profile with this name, which a setting refers to.
    pub(crate) fn require(&self, name: &str) -> Result<&Profile, ConfigError> {
        self.get(name).ok_or_else(|| {
            let mut names: Vec<_> = self.by_name.keys().map(String::as_str).collect();
            names.sort_unstable();
            if names.len() > MAX_NAMES {
                names.truncate(MAX_NAMES);
                names.push("..");
            }
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let files = self.files();
            ConfigError::new(format!("profile {name:?} is not in {files}; available profiles: {known}"))
        })
    }

    /// The files that are searched for profiles.
    pub(crate) fn files(&self) -> String {
        match (&self.config, &self.credentials) {
            (Some(config), Some(credentials)) => format!("{} or {}", config.display(), credentials.display()),
            (Some(file), None) | (None, Some(file)) => file.display().to_string(),
            (None, None) => "~/.aws/config (HOME is not set)".to_owned(),
        }
    }

    /// `endpoint_url` of the service in the `services` section that the profile refers to.
    fn endpoint_of_service(&self, profile: &Profile, service: &str) -> Option<Setting> {
        let services = self.services.get(&profile.get("services")?.value)?;
        let nested = services.0.get(service)?.nested.get("endpoint_url")?;
        setting("endpoint_url", nested)
    }
}

impl Profile {
    /// The setting, unless it is missing or empty.
    pub(crate) fn get(&self, key: &str) -> Option<Setting> {
        setting(key, self.0.get(key)?)
    }
}

fn setting(key: &str, property: &Property) -> Option<Setting> {
    let Property { value, file, line, .. } = property;
    let place = format!("{}:{line}: {key}", file.display());
    (!value.is_empty()).then(|| Setting { value: value.clone(), place })
}

fn sections(variables: &Variables, name: &str, file: Option<&Path>) -> Result<Vec<Section>, ConfigError> {
    let Some(path) = file else { return Ok(Vec::new()) };
    let read = if variables.text(name).is_some() { read_file } else { read_default };
    let Some(text) = read(path)? else { return Ok(Vec::new()) };
    parse(&Arc::from(path), &text)
}

fn merge(profiles: &mut HashMap<String, Profile>, name: &str, properties: HashMap<String, Property>) {
    profiles.entry(name.to_owned()).or_default().0.extend(properties);
}

/// Far more than any profile file needs.
const MAX_FILE_BYTES: u64 = 1_048_576;
const BLANK: [char; 2] = [' ', '\t'];

/// `[name]` and the lines up to the next section.
#[derive(Debug)]
struct Section {
    name: String,
    properties: HashMap<String, Property>,
}

/// `key = value` and the indented lines below it. Values may be secret.
#[derive(Clone)]
struct Property {
    value: String,
    file: Arc<Path>,
    line: usize,
    nested: HashMap<String, Property>,
}

impl std::fmt::Debug for Property {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// Reads a text file of bounded size. Returns `None` if the file does not exist.
pub(crate) fn read_file(path: &Path) -> Result<Option<String>, ConfigError> {
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
fn read_default(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotADirectory) => {
            tracing::warn!(file = %path.display(), %error, "the directory of the file is not accessible; ignoring the file");
            Ok(None)
        }
        _ => read_file(path),
    }
}

/// Parses the text into sections. Errors name the number of an invalid line but never quote it: it may contain a secret.
fn parse(file: &Arc<Path>, text: &str) -> Result<Vec<Section>, ConfigError> {
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
