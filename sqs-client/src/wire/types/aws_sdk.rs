//! Conversions between the shapes of this crate and those of aws-sdk-sqs, which have the same names and members. The
//! macros that declare shapes and enums implement them.

use std::collections::HashMap;
use std::hash::Hash;

use aws_smithy_types::Blob;
use aws_smithy_types::error::operation::BuildError;

/// A value that aws-sdk-sqs has too.
pub(crate) trait Counterpart: Sized {
    /// Its type there.
    type Sdk;

    fn to_sdk(&self) -> Result<Self::Sdk, BuildError>;

    fn from_sdk(sdk: Self::Sdk) -> Self;
}

/// An input.
pub(crate) trait Request {
    /// The fluent builder of the operation in aws-sdk-sqs.
    type Builder;

    /// Sets every member on the builder.
    fn fill(&self, builder: Self::Builder) -> Result<Self::Builder, BuildError>;
}

/// An output.
pub(crate) trait Answer: Sized {
    /// Its type in aws-sdk-sqs.
    type Sdk;

    /// The output with its request id.
    fn from_sdk(sdk: Self::Sdk) -> Self;
}

macro_rules! same {
    ($($t:ty)*) => { $(
        impl Counterpart for $t {
            type Sdk = Self;

            fn to_sdk(&self) -> Result<Self, BuildError> {
                Ok(self.clone())
            }

            fn from_sdk(sdk: Self) -> Self {
                sdk
            }
        }
    )* };
}

same!(String i32 i64 bool Blob);

impl<T: Counterpart> Counterpart for Option<T> {
    type Sdk = Option<T::Sdk>;

    fn to_sdk(&self) -> Result<Self::Sdk, BuildError> {
        self.as_ref().map(T::to_sdk).transpose()
    }

    fn from_sdk(sdk: Self::Sdk) -> Self {
        sdk.map(T::from_sdk)
    }
}

impl<T: Counterpart> Counterpart for Vec<T> {
    type Sdk = Vec<T::Sdk>;

    fn to_sdk(&self) -> Result<Self::Sdk, BuildError> {
        self.iter().map(T::to_sdk).collect()
    }

    fn from_sdk(sdk: Self::Sdk) -> Self {
        sdk.into_iter().map(T::from_sdk).collect()
    }
}

impl<K, V: Counterpart> Counterpart for HashMap<K, V>
where
    K: Counterpart<Sdk: Eq + Hash> + Eq + Hash,
{
    type Sdk = HashMap<K::Sdk, V::Sdk>;

    fn to_sdk(&self) -> Result<Self::Sdk, BuildError> {
        self.iter().map(|(key, value)| Ok((key.to_sdk()?, value.to_sdk()?))).collect()
    }

    fn from_sdk(sdk: Self::Sdk) -> Self {
        sdk.into_iter().map(|(key, value)| (K::from_sdk(key), V::from_sdk(value))).collect()
    }
}
