//! The parts of the serializer that have parts themselves: lists, maps and structs.

use serde::ser::{self, Serialize};

use super::names::{WireName, wire_name};
use super::walk::{At, NotAShape, Place, Sink, Walk};

/// A list: one numbered member per element.
pub(super) struct List<'w, 's, S> {
    pub(super) walk: &'w mut Walk<'s, S>,
    pub(super) wire: WireName,
    pub(super) count: usize,
}

impl<S: Sink> ser::SerializeSeq for List<'_, '_, S> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotAShape> {
        self.count += 1;
        value.serialize(Place { walk: self.walk, at: Some(At { wire: self.wire, index: Some(self.count) }) })
    }

    fn end(self) -> Result<(), NotAShape> {
        self.walk.last_list = (self.wire.name, self.count);
        Ok(())
    }
}

/// A map: one numbered member per entry, with a key and a value in it.
pub(super) struct Map<'w, 's, S> {
    pub(super) walk: &'w mut Walk<'s, S>,
    pub(super) wire: WireName,
    pub(super) count: usize,
}

impl<S: Sink> Map<'_, '_, S> {
    fn half<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NotAShape> {
        let at = At { wire: WireName { name, ..WireName::default() }, index: None };
        value.serialize(Place { walk: self.walk, at: Some(at) })
    }
}

impl<S: Sink> ser::SerializeMap for Map<'_, '_, S> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotAShape> {
        self.count += 1;
        self.walk.sink.enter(self.wire.name, Some(self.count));
        self.half(self.wire.pair.0, key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotAShape> {
        self.half(self.wire.pair.1, value)?;
        self.walk.sink.leave(self.wire.name);
        Ok(())
    }

    fn end(self) -> Result<(), NotAShape> {
        Ok(())
    }
}

/// A struct: its members.
pub(super) struct Struct<'w, 's, S> {
    pub(super) walk: &'w mut Walk<'s, S>,
    pub(super) at: Option<At>,
    pub(super) shape: &'static str,
}

impl<S: Sink> ser::SerializeStruct for Struct<'_, '_, S> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        member: &'static str,
        value: &T,
    ) -> Result<(), NotAShape> {
        let wire = wire_name(self.shape, member);
        value.serialize(Place { walk: self.walk, at: Some(At { wire, index: None }) })
    }

    fn end(self) -> Result<(), NotAShape> {
        if let Some(At { wire, .. }) = self.at {
            self.walk.sink.leave(wire.name);
        }
        Ok(())
    }
}
