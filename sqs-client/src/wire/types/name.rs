//! Open enums: known names are variants, unknown names are kept as text.

/// A name that this version does not know.
///
/// Opaque, as in aws-sdk-sqs: use `as_str()` of the enum to read it.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct UnknownVariantValue(pub(crate) String);

impl std::fmt::Display for UnknownVariantValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Declares an open enum with the given variants and wire names.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $( $(#[$vm:meta])* $variant:ident => $wire:literal, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$vm])* $variant, )*
            /// A name that this version does not know. Read it with `as_str()`.
            Unknown(crate::types::UnknownVariantValue),
        }

        impl $name {
            /// The name on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $wire, )*
                    Self::Unknown(name) => &name.0,
                }
            }

            /// All known wire names.
            pub const fn values() -> &'static [&'static str] {
                &[$( $wire ),*]
            }

            /// Parses a known name.
            ///
            /// # Errors
            /// The name is not one of [`values`](Self::values).
            pub fn try_parse(value: &str) -> Result<Self, crate::types::UnknownVariantError> {
                match Self::from(value) {
                    Self::Unknown(unknown) => Err(crate::types::UnknownVariantError(unknown.0)),
                    known => Ok(known),
                }
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                match name {
                    $( $wire => Self::$variant, )*
                    other => Self::Unknown(crate::types::UnknownVariantValue(other.to_owned())),
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::convert::Infallible;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Ok(Self::from(name))
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        #[cfg(feature = "aws-sdk-sqs")]
        impl crate::types::aws_sdk::Counterpart for $name {
            type Sdk = aws_sdk_sqs::types::$name;

            fn to_sdk(&self) -> Result<Self::Sdk, aws_smithy_types::error::operation::BuildError> {
                Ok(self.as_str().into())
            }

            fn from_sdk(sdk: Self::Sdk) -> Self {
                sdk.as_str().into()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Name;
                impl serde::de::Visitor<'_> for Name {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a string")
                    }

                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$name, E> {
                        Ok($name::from(name))
                    }
                }
                deserializer.deserialize_str(Name)
            }
        }
    };
}

/// The name is not a known value of its type.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownVariantError(pub(crate) String);

impl std::fmt::Display for UnknownVariantError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown name {:?}", self.0)
    }
}

impl std::error::Error for UnknownVariantError {}
