//! The name of a region.

use std::borrow::Cow;
use std::fmt;

/// A region, such as `eu-west-1`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Region(Cow<'static, str>);

impl Region {
    /// A region with this name. If it is not valid in a host name, the first call fails.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// A region whose name is known at compile time.
    pub const fn from_static(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }
}

impl AsRef<str> for Region {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Converts into an optional [`Region`]. Implemented for `Region` and `Option<Region>` of this crate and of the AWS SDK.
pub trait IntoRegion {
    /// Returns the region, if any.
    fn into_region(self) -> Option<Region>;
}

impl IntoRegion for Region {
    fn into_region(self) -> Option<Region> {
        Some(self)
    }
}

impl IntoRegion for Option<Region> {
    fn into_region(self) -> Option<Region> {
        self
    }
}

#[cfg(feature = "aws-config")]
impl IntoRegion for aws_types::region::Region {
    fn into_region(self) -> Option<Region> {
        Some(Region(Cow::Owned(self.as_ref().to_owned())))
    }
}

#[cfg(feature = "aws-config")]
impl IntoRegion for Option<aws_types::region::Region> {
    fn into_region(self) -> Option<Region> {
        self?.into_region()
    }
}
