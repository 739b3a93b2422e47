//! Values that JSON shows as text, and enums whose variants have texts.

/// Serializes types as their `Display` shows them.
macro_rules! serialize_as_text {
    ($($name:ty),+) => {
        $(impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })+
    };
}

/// Declares an enum with `ALL` variants, `as_str` from a variant to its text, and `from_text` back.
macro_rules! text_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident => $text:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        $visibility enum $name {
            $( $(#[$variant_meta])* $variant, )*
        }

        #[allow(dead_code, reason = "not every enum needs all of it, nor with every feature")]
        impl $name {
            pub(crate) const ALL: [Self; [$( $text ),*].len()] = [$( Self::$variant ),*];

            /// The name on the wire, in JSON and in logs.
            $visibility const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )* }
            }

            pub(crate) fn from_text(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.as_str() == text)
            }
        }
    };
}

pub(crate) use serialize_as_text;

pub(crate) use text_enum;
