//! The macro that declares a shape: struct, getters, builder and, for inputs, the fluent builder.
//!
//! A field is written `name: <opt|req> <type> => "WireName"`. The type is `str`, a scalar, `blob`, `[Element]` for a
//! list or `{Key: Value}` for a map. The serde names are the JSON member names. [`crate::wire::protocol`] maps them to the
//! names of the Query protocol.

#[macro_use]
mod member;

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
