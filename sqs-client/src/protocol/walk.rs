//! One serializer for both flattened forms: it walks a shape and tells a sink what it meets.

use std::fmt;

use serde::ser::{self, Impossible, Serialize, Serializer};

use super::compound::{List, Map, Struct};
use super::names::WireName;

/// Writes members of a flattened form: a form sink keeps a path, an XML sink opens elements.
pub(super) trait Sink {
    /// A member begins; list elements and map entries carry their number, from 1.
    fn enter(&mut self, name: &str, index: Option<usize>);
    /// The text of a member.
    fn text(&mut self, text: &str);
    /// The member that was entered last ends.
    fn leave(&mut self, name: &str);
}

/// Serializes `shape`, a struct of the model, into `sink`.
pub(super) fn walk(shape: &impl Serialize, sink: &mut impl Sink) -> Result<(), NotAShape> {
    shape.serialize(Place { walk: &mut Walk { sink, last_list: ("", 0) }, at: None })
}

/// A type was serialized that no shape of the model has.
#[derive(Debug)]
pub(super) struct NotAShape(String);

impl NotAShape {
    pub(super) fn has(method: &str) -> Self {
        Self(format!("{method}: no shape has this"))
    }
}

impl fmt::Display for NotAShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotAShape {}

impl ser::Error for NotAShape {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// What all places of one shape share.
pub(super) struct Walk<'s, S> {
    pub(super) sink: &'s mut S,
    /// Name of the latest list and how many elements it has: two members of a receive share one name, and
    /// the second goes on counting where the first stopped.
    pub(super) last_list: (&'static str, usize),
}

/// Where the next value goes.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) wire: WireName,
    pub(super) index: Option<usize>,
}

/// A serializer of one value.
pub(super) struct Place<'w, 's, S> {
    pub(super) walk: &'w mut Walk<'s, S>,
    /// `None` for the outermost struct, which has no name of its own.
    pub(super) at: Option<At>,
}

impl<S: Sink> Place<'_, '_, S> {
    fn leaf(self, text: &str) {
        if let Some(At { wire, index }) = self.at {
            self.walk.sink.enter(wire.name, index);
            self.walk.sink.text(text);
            self.walk.sink.leave(wire.name);
        }
    }
}

macro_rules! leaves {
    ($($method:ident $type:ty),*) => {
        $( fn $method(self, value: $type) -> Result<(), NotAShape> {
            self.leaf(&value.to_string());
            Ok(())
        } )*
    };
}

/// What a serializer of shapes need not know.
macro_rules! not_in_the_model {
    () => {
        not_in_the_model! {
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
        ) -> Result<(), NotAShape> {
            Err(NotAShape::has("serialize_newtype_variant"))
        }
    };
    ($($method:ident($($arg:ty),*) -> $ok:ty;)*) => {
        $( fn $method(self, $(_: $arg),*) -> Result<$ok, NotAShape> {
            Err(NotAShape::has(stringify!($method)))
        } )*
    };
}
pub(super) use not_in_the_model;

impl<'w, 's, S: Sink> Serializer for Place<'w, 's, S> {
    type Ok = ();
    type Error = NotAShape;
    type SerializeSeq = List<'w, 's, S>;
    type SerializeTuple = Impossible<(), NotAShape>;
    type SerializeTupleStruct = Impossible<(), NotAShape>;
    type SerializeTupleVariant = Impossible<(), NotAShape>;
    type SerializeMap = Map<'w, 's, S>;
    type SerializeStruct = Struct<'w, 's, S>;
    type SerializeStructVariant = Impossible<(), NotAShape>;

    leaves!(serialize_bool bool, serialize_i32 i32, serialize_i64 i64);

    fn serialize_str(self, value: &str) -> Result<(), NotAShape> {
        self.leaf(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), NotAShape> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotAShape> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'w, 's, S>, NotAShape> {
        let wire = self.at.map(|at| at.wire).unwrap_or_default();
        if self.walk.last_list.0 != wire.name {
            self.walk.last_list = (wire.name, 0);
        }
        let count = self.walk.last_list.1;
        Ok(List { walk: self.walk, wire, count })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Map<'w, 's, S>, NotAShape> {
        let wire = self.at.map(|at| at.wire).unwrap_or_default();
        Ok(Map { walk: self.walk, wire, count: 0 })
    }

    fn serialize_struct(self, shape: &'static str, _: usize) -> Result<Struct<'w, 's, S>, NotAShape> {
        if let Some(At { wire, index }) = self.at {
            self.walk.sink.enter(wire.name, index);
        }
        // Lists of two structs of one shape have the same name and nothing else in common.
        self.walk.last_list = ("", 0);
        Ok(Struct { walk: self.walk, at: self.at, shape })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotAShape> {
        value.serialize(self)
    }

    not_in_the_model!();
}
