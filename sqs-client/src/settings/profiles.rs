//! The profiles of the shared config and credentials files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{self, Property, Section};
use super::{ConfigError, Setting, Variables};

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
    pub(super) fn endpoint_of_service(&self, profile: &Profile, service: &str) -> Option<Setting> {
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
    let read = if variables.text(name).is_some() { file::read } else { file::read_default };
    let Some(text) = read(path)? else { return Ok(Vec::new()) };
    file::parse(&Arc::from(path), &text)
}

fn merge(profiles: &mut HashMap<String, Profile>, name: &str, properties: HashMap<String, Property>) {
    profiles.entry(name.to_owned()).or_default().0.extend(properties);
}
