//! The message groups of a queue.

use std::collections::HashMap;
use std::sync::Arc;

use super::slab::{Slab, Slot};

/// A group with data that depends on the kind of queue.
#[derive(Debug)]
pub(super) struct Group<T> {
    /// `None` for messages without a group, which only standard queues have.
    pub(super) id: Option<Arc<str>>,
    pub(super) data: T,
    members: usize,
}

/// Groups by id. A group with an id exists while it has messages.
#[derive(Debug)]
pub(super) struct Groups<T> {
    by_id: HashMap<Arc<str>, Slot>,
    nameless: Option<Slot>,
    all: Slab<Group<T>>,
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self { by_id: HashMap::new(), nameless: None, all: Slab::default() }
    }
}

impl<T> Groups<T> {
    pub(super) fn get(&self, slot: Slot) -> Option<&Group<T>> {
        self.all.get(slot)
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut Group<T>> {
        self.all.get_mut(slot)
    }

    /// Adds a message to the count of a group. The first message creates the group.
    pub(super) fn join(&mut self, id: Option<&str>, new: impl FnOnce() -> T) -> Slot {
        let found = match id {
            Some(id) => self.by_id.get(id).copied(),
            None => self.nameless,
        };
        if let Some((slot, group)) = found.and_then(|slot| Some((slot, self.all.get_mut(slot)?))) {
            group.members += 1;
            return slot;
        }
        let id: Option<Arc<str>> = id.map(Arc::from);
        let slot = self.all.insert(Group { id: id.clone(), data: new(), members: 1 });
        match id {
            Some(id) => drop(self.by_id.insert(id, slot)),
            None => self.nameless = Some(slot),
        }
        slot
    }

    /// Removes a message from the count of a group. The last message removes the group, unless it has no id: most queues
    /// have no other group, and would create it again and again.
    pub(super) fn leave(&mut self, slot: Slot) {
        let Some(group) = self.all.get_mut(slot) else {
            return;
        };
        group.members -= 1;
        if group.members > 0 {
            return;
        }
        if let Some(id) = group.id.take() {
            self.by_id.remove(&id);
            self.all.remove(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_exists_from_its_first_to_its_last_message() {
        let mut groups = Groups::<u8>::default();
        let a = groups.join(Some("a"), || 1);
        assert_eq!(groups.join(Some("a"), || 2), a);
        let nameless = groups.join(None, || 3);
        assert_ne!(nameless, a);
        groups.leave(a);
        assert_eq!(groups.get(a).map(|group| group.data), Some(1));
        groups.leave(a);
        assert!(groups.get(a).is_none());
        assert_eq!(groups.get(nameless).map(|group| group.data), Some(3));
    }
}
