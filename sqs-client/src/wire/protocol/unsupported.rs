//! The error of the serializers for types that no shape contains.

use std::fmt;

use serde::ser;

/// A serializer got a type that no shape contains.
#[derive(Debug)]
pub(super) struct UnsupportedType(String);

impl UnsupportedType {
    pub(super) fn new(method: &str) -> Self {
        Self(format!("{method} is not supported: no shape contains this type"))
    }
}

impl fmt::Display for UnsupportedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnsupportedType {}

impl ser::Error for UnsupportedType {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The serializer methods for types that no shape contains.
macro_rules! unsupported_types {
    () => {
        unsupported_types! {
            serialize_i8(i8) -> ();
            serialize_i16(i16) -> ();
            serialize_u8(u8) -> ();
            serialize_u16(u16) -> ();
            serialize_u32(u32) -> ();
            serialize_u64(u64) -> ();
            serialize_f32(f32) -> ();
            serialize_f64(f64) -> ();
            serialize_char(char) -> ();
            serialize_bytes(&[u8]) -> ();
            serialize_unit() -> ();
            serialize_unit_struct(&'static str) -> ();
            serialize_unit_variant(&'static str, u32, &'static str) -> ();
            serialize_tuple(usize) -> Self::SerializeTuple;
            serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
            serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
            serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
        }

        fn serialize_newtype_variant<T: serde::Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<(), UnsupportedType> {
            Err(UnsupportedType::new("serialize_newtype_variant"))
        }
    };
    ($($method:ident($($arg:ty),*) -> $ok:ty;)*) => {
        $( fn $method(self, $(_: $arg),*) -> Result<$ok, UnsupportedType> {
            Err(UnsupportedType::new(stringify!($method)))
        } )*
    };
}
pub(super) use unsupported_types;
