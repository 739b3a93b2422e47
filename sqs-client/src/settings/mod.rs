//! Settings from environment variables and the shared profile files, with the place of each setting.
//!
//! ```text
//! variable -> profile in ~/.aws/credentials -> profile in ~/.aws/config
//! ```
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>

mod error;
mod file;
mod profiles;
mod variables;

use std::fmt;
use std::str::FromStr;

pub use error::ConfigError;
pub(crate) use file::read as read_file;
pub(crate) use profiles::{Profile, Profiles};
pub(crate) use variables::Variables;

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

    pub(crate) fn flag(&self, variable: &str, key: &str) -> Result<bool, ConfigError> {
        self.get(variable, key).map_or(Ok(false), |setting| setting.flag())
    }

    /// The endpoint URL of a service, which is named as in `AWS_ENDPOINT_URL_SQS`. Variables override the profile, and
    /// service-specific settings override general ones.
    pub(crate) fn endpoint_url(&self, service: &str) -> Result<Option<String>, ConfigError> {
        if self.flag("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls")? {
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
