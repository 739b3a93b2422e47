//! The macro that declares a shape: struct, getters, builder and, for inputs, the fluent builder.
//!
//! A field is written `name: <opt|req> <type> => "WireName"`. The type is `str`, a scalar, `blob`, `[Element]` for a
//! list or `{Key: Value}` for a map. The serde names are the JSON member names. [`crate::wire::protocol`] maps them to the
//! names of the Query protocol.

use std::collections::HashMap;

/// Whether the encoder omits a member.
///
/// SQS omits absent members and empty required lists alike: a batch response has `Successful`, `Failed` or both.
pub(crate) trait Absent {
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Absent for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Absent for String {}
impl Absent for bool {}
impl Absent for i32 {}
impl Absent for i64 {}

/// Appends to an optional list, creating it.
pub(crate) fn push<T>(list: &mut Option<Vec<T>>, item: T) {
    list.get_or_insert_default().push(item);
}

/// Inserts into an optional map, creating it.
pub(crate) fn insert<K: Eq + std::hash::Hash, V>(map: &mut Option<HashMap<K, V>>, key: K, value: V) {
    map.get_or_insert_default().insert(key, value);
}

/// Serializes an optional map in the order of its keys, so that equal messages are encoded alike. The order of enums is
/// that of their variants.
pub(crate) mod sorted {
    use std::collections::HashMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::ref_option, reason = "serde's `with` requires this signature")]
    pub(crate) fn serialize<K: Ord + Serialize, V: Serialize, S: Serializer>(
        map: &Option<HashMap<K, V>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<_> = map.iter().flatten().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        serializer.collect_map(entries)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }
}

/// Declares a shape. The first word selects the additional code:
/// `input` (a fluent builder), `output` (response metadata) or `data` (nothing). `try_output` and `try_data` have
/// required members, so their `build` returns a `Result`.
macro_rules! shape {
    (@struct [$($extra:tt)*] [$($meta:tt)*] $name:ident {
        $( $(#[$fm:meta])* $f:ident : $card:ident $t:tt => $wire:literal $(, with $with:literal)? ;)*
    }) => { pastey::paste! {
        $($meta)*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[non_exhaustive]
        pub struct $name {
            $(
                $(#[$fm])*
                #[serde(rename = $wire, default, skip_serializing_if = "crate::types::shape::Absent::is_absent")]
                $(#[serde(with = $with)])?
                pub $f: member_type!($card $t),
            )*
            $($extra)*
        }

        impl $name {
            $( getter!([$(#[$fm])*] $f $card $t); )*

            #[doc = concat!("Returns a builder of [`", stringify!($name), "`].")]
            pub fn builder() -> [<$name Builder>] {
                [<$name Builder>]::default()
            }
        }

        #[doc = concat!("Builder of [`", stringify!($name), "`].")]
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct [<$name Builder>] {
            $( pub(crate) $f: stored_type!($card $t), )*
        }

        impl [<$name Builder>] {
            $( builder_methods!([$(#[$fm])*] (self self) $f $card $t); )*
        }
    }};

    ($(#[$meta:meta])* data $name:ident {
        $( $(#[$fm:meta])* $f:ident : $card:ident $t:tt => $wire:literal $(, with $with:literal)? ;)*
    }) => { pastey::paste! {
        shape!(@struct [] [$(#[$meta])*] $name { $( $(#[$fm])* $f : $card $t => $wire $(, with $with)? ;)* });
        shape!(@sdk (Ok) $name { $( $f : $card ;)* });
        impl [<$name Builder>] {
            #[doc = concat!("Builds the [`", stringify!($name), "`].")]
            pub fn build(self) -> $name {
                $name { $( $f: relax!(self.$f, $card $t), )* }
            }
        }
    }};

    ($(#[$meta:meta])* try_data $name:ident {
        $( $(#[$fm:meta])* $f:ident : $card:ident $t:tt => $wire:literal $(, with $with:literal)? ;)*
    }) => { pastey::paste! {
        shape!(@struct [] [$(#[$meta])*] $name { $( $(#[$fm])* $f : $card $t => $wire $(, with $with)? ;)* });
        shape!(@sdk () $name { $( $f : $card ;)* });
        impl [<$name Builder>] {
            #[doc = concat!("Builds the [`", stringify!($name), "`].")]
            ///
            /// # Errors
            /// A required member is not set. The error names it.
            pub fn build(self) -> Result<$name, aws_smithy_types::error::operation::BuildError> {
                Ok($name { $( $f: require!(self.$f, $f, $name, $card $t), )* })
            }
        }
    }};

    ($(#[$meta:meta])* input $name:ident {
        $( $(#[$fm:meta])* $f:ident : $card:ident $t:tt => $wire:literal ;)*
    }) => { pastey::paste! {
        shape!(@struct [] [$(#[$meta])*] $name { $( $(#[$fm])* $f : $card $t => $wire ;)* });
        #[cfg(feature = "aws-sdk-sqs")]
        impl crate::types::aws_sdk::Request for $name {
            type Builder = aws_sdk_sqs::operation::[<$name:replace("Input", ""):snake>]::builders::[<$name:replace("Input", "") FluentBuilder>];

            // `attribute_names` is deprecated by AWS, and still a member.
            #[allow(deprecated)]
            fn fill(&self, builder: Self::Builder) -> Result<Self::Builder, aws_smithy_types::error::operation::BuildError> {
                $( let builder = builder.[<set_ $f>](crate::types::aws_sdk::Counterpart::to_sdk(&self.$f)?); )*
                Ok(builder)
            }
        }
        impl [<$name Builder>] {
            #[doc = concat!("Builds the [`", stringify!($name), "`].")]
            ///
            /// # Errors
            /// None today. SQS checks required members, and so does a client with `validate_input`. The `Result`
            /// matches aws-sdk-sqs.
            pub fn build(self) -> Result<$name, aws_smithy_types::error::operation::BuildError> {
                Ok($name { $( $f: self.$f, )* })
            }
        }
        impl<H> crate::types::FluentBuilder<[<$name Builder>], H> {
            $( builder_methods!([$(#[$fm])*] (self self.inner) $f $card $t); )*
        }
    }};

    ($(#[$meta:meta])* output $name:ident {
        $( $(#[$fm:meta])* $f:ident : $card:ident $t:tt => $wire:literal $(, with $with:literal)? ;)*
    }) => { pastey::paste! {
        shape!(@output [$(#[$meta])*] $name { $( $(#[$fm])* $f : $card $t => $wire $(, with $with)? ;)* });
        impl [<$name Builder>] {
            #[doc = concat!("Builds the [`", stringify!($name), "`].")]
            pub fn build(self) -> $name {
                $name { $( $f: relax!(self.$f, $card $t), )* _metadata: crate::types::ResponseMetadata::default() }
            }
        }
    }};

    ($(#[$meta:meta])* try_output $name:ident {
        $( $(#[$fm:meta])* $f:ident : $card:ident $t:tt => $wire:literal ;)*
    }) => { pastey::paste! {
        shape!(@output [$(#[$meta])*] $name { $( $(#[$fm])* $f : $card $t => $wire ;)* });
        impl [<$name Builder>] {
            #[doc = concat!("Builds the [`", stringify!($name), "`].")]
            ///
            /// # Errors
            /// A required member is not set. The error names it.
            pub fn build(self) -> Result<$name, aws_smithy_types::error::operation::BuildError> {
                Ok($name { $( $f: require!(self.$f, $f, $name, $card $t), )* _metadata: crate::types::ResponseMetadata::default() })
            }
        }
    }};

    (@output [$($meta:tt)*] $name:ident {
        $( $(#[$fm:meta])* $f:ident : $card:ident $t:tt => $wire:literal $(, with $with:literal)? ;)*
    }) => {
        shape!(@struct [#[serde(skip)] _metadata: crate::types::ResponseMetadata,] [$($meta)*] $name {
            $( $(#[$fm])* $f : $card $t => $wire $(, with $with)? ;)*
        });
        #[cfg(feature = "aws-sdk-sqs")]
        impl crate::types::aws_sdk::Answer for $name {
            type Sdk = pastey::paste! { aws_sdk_sqs::operation::[<$name:replace("Output", ""):snake>]::$name };

            fn from_sdk(sdk: Self::Sdk) -> Self {
                let request_id = aws_sdk_sqs::operation::RequestId::request_id(&sdk).map(str::to_owned);
                $name {
                    $( $f: crate::types::aws_sdk::Counterpart::from_sdk(sdk.$f), )*
                    _metadata: crate::types::ResponseMetadata { request_id, ..Default::default() },
                }
            }
        }
        impl crate::types::HasMetadata for $name {
            fn metadata(&self) -> &crate::types::ResponseMetadata {
                &self._metadata
            }
            fn metadata_mut(&mut self) -> &mut crate::types::ResponseMetadata {
                &mut self._metadata
            }
        }
    };

    // Its counterpart in aws-sdk-sqs; `Ok` wraps what a builder returns that cannot fail.
    (@sdk ($($ok:ident)?) $name:ident { $( $f:ident : $card:ident ;)* }) => { pastey::paste! {
        #[cfg(feature = "aws-sdk-sqs")]
        impl crate::types::aws_sdk::Counterpart for $name {
            type Sdk = aws_sdk_sqs::types::$name;

            fn to_sdk(&self) -> Result<Self::Sdk, aws_smithy_types::error::operation::BuildError> {
                let builder = aws_sdk_sqs::types::$name::builder();
                $( let builder = builder.[<set_ $f>](to_setter!($card crate::types::aws_sdk::Counterpart::to_sdk(&self.$f)?)); )*
                $($ok)? (builder.build())
            }

            fn from_sdk(sdk: Self::Sdk) -> Self {
                $name { $( $f: crate::types::aws_sdk::Counterpart::from_sdk(sdk.$f), )* }
            }
        }
    }};
}

/// Type of a member in the struct.
macro_rules! member_type {
    (opt [$t:ident]) => { Option<Vec<$t>> };
    (req [$t:ident]) => { Vec<$t> };
    (opt {$k:ident : $v:ident}) => { Option<std::collections::HashMap<$k, $v>> };
    (opt str) => { Option<String> };
    (req str) => { String };
    (opt blob) => { Option<Blob> };
    (opt $t:ident) => { Option<$t> };
    (req $t:ident) => { $t };
}

/// Type of a member in the builder. Every member is optional until `build`.
macro_rules! stored_type {
    (req [$t:ident]) => { Option<Vec<$t>> };
    (req str) => { Option<String> };
    (req $t:ident) => { Option<$t> };
    ($card:ident $t:tt) => { member_type!($card $t) };
}

/// Getter of a member. The signature matches aws-sdk-sqs.
macro_rules! getter {
    ([$($m:tt)*] $f:ident opt [$t:ident]) => {
        $($m)*
        /// Empty when absent.
        pub fn $f(&self) -> &[$t] { self.$f.as_deref().unwrap_or_default() }
    };
    ([$($m:tt)*] $f:ident req [$t:ident]) => { $($m)* pub fn $f(&self) -> &[$t] { &self.$f } };
    ([$($m:tt)*] $f:ident opt {$k:ident : $v:ident}) => {
        $($m)* pub fn $f(&self) -> Option<&std::collections::HashMap<$k, $v>> { self.$f.as_ref() }
    };
    ([$($m:tt)*] $f:ident opt str) => { $($m)* pub fn $f(&self) -> Option<&str> { self.$f.as_deref() } };
    ([$($m:tt)*] $f:ident req str) => { $($m)* pub fn $f(&self) -> &str { &self.$f } };
    ([$($m:tt)*] $f:ident opt blob) => { $($m)* pub fn $f(&self) -> Option<&Blob> { self.$f.as_ref() } };
    ([$($m:tt)*] $f:ident opt $t:ident) => { $($m)* pub fn $f(&self) -> Option<$t> { self.$f } };
    ([$($m:tt)*] $f:ident req $t:ident) => { $($m)* pub fn $f(&self) -> $t { self.$f } };
}

/// Parameter type of a single value. Text accepts `impl Into<String>`.
macro_rules! param {
    (String) => { impl Into<String> };
    (str) => { impl Into<String> };
    (blob) => { Blob };
    ($t:ident) => { $t };
}

macro_rules! convert {
    ($value:ident String) => {
        $value.into()
    };
    ($value:ident str) => {
        $value.into()
    };
    ($value:ident $t:ident) => {
        $value
    };
}

/// The setter that takes a value, an element, or a key and a value. `$place` is the path to the builder's fields.
macro_rules! setter {
    ([$($m:tt)*] ($self:ident $($place:tt)*) $f:ident $card:ident [$t:ident]) => {
        $($m)*
        /// Appends one element. The `set_` method replaces the whole list.
        pub fn $f(mut $self, input: param!($t)) -> Self {
            crate::types::shape::push(&mut $($place)*.$f, convert!(input $t));
            $self
        }
    };
    ([$($m:tt)*] ($self:ident $($place:tt)*) $f:ident $card:ident {$k:ident : $v:ident}) => {
        $($m)*
        /// Adds one entry. The `set_` method replaces the whole map.
        pub fn $f(mut $self, k: param!($k), v: param!($v)) -> Self {
            crate::types::shape::insert(&mut $($place)*.$f, convert!(k $k), convert!(v $v));
            $self
        }
    };
    ([$($m:tt)*] ($self:ident $($place:tt)*) $f:ident $card:ident $t:ident) => {
        $($m)* pub fn $f(mut $self, input: param!($t)) -> Self {
            $($place)*.$f = Some(convert!(input $t));
            $self
        }
    };
}

/// The three methods of a member on a builder: `x`, `set_x`, `get_x`.
macro_rules! builder_methods {
    ([$($m:tt)*] ($self:ident $($place:tt)*) $f:ident $card:ident $t:tt) => {
        setter!([$($m)*] ($self $($place)*) $f $card $t);
        pastey::paste! {
            #[doc = concat!("Sets or clears `", stringify!($f), "`.")]
            pub fn [<set_ $f>](mut $self, input: stored_type!($card $t)) -> Self {
                $($place)*.$f = input;
                $self
            }
            #[doc = concat!("Returns the current value of `", stringify!($f), "`.")]
            pub fn [<get_ $f>](&$self) -> &stored_type!($card $t) {
                &$($place)*.$f
            }
        }
    };
}

/// The value of a member in `build`. A missing required text or list is an error.
macro_rules! require {
    ($value:expr, $f:ident, $name:ident, req [$t:ident]) => { require!(@missing $value, $f, $name) };
    ($value:expr, $f:ident, $name:ident, req str) => { require!(@missing $value, $f, $name) };
    ($value:expr, $f:ident, $name:ident, $card:ident $t:tt) => { relax!($value, $card $t) };
    (@missing $value:expr, $f:ident, $name:ident) => {
        $value.ok_or_else(|| aws_smithy_types::error::operation::BuildError::missing_field(
            stringify!($f),
            concat!(stringify!($f), " was not specified but it is required when building ", stringify!($name)),
        ))?
    };
}

/// The value of a member in `build`. A missing required member becomes its default.
macro_rules! relax {
    ($value:expr, req $t:tt) => {
        $value.unwrap_or_default()
    };
    ($value:expr, opt $t:tt) => {
        $value
    };
}

/// A member as the setters of aws-sdk-sqs take it: all are optional there.
#[cfg(feature = "aws-sdk-sqs")]
macro_rules! to_setter {
    (opt $value:expr) => {
        $value
    };
    (req $value:expr) => {
        Some($value)
    };
}

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
