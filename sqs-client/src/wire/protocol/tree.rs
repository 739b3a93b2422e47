//! A tree of named nodes. The form and XML parsers produce it; shapes are deserialized from it.

use std::borrow::Cow;

/// An XML element, or all form parameters with the same prefix.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Node<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) members: Vec<(Cow<'a, str>, Node<'a>)>,
}

impl<'a> Node<'a> {
    /// The first member with this name.
    pub(super) fn child(&self, name: &str) -> Option<&Node<'a>> {
        self.children(name).next()
    }

    /// All members with this name.
    pub(super) fn children<'n>(&'n self, name: &str) -> impl Iterator<Item = &'n Node<'a>> {
        self.members.iter().filter(move |(n, _)| n == name).map(|(_, node)| node)
    }

    /// The elements of a list or map.
    ///
    /// XML repeats the element. A form numbers it: `X.1`, `X.2`, gaps are allowed. Also accepts the unflattened `X.member.1`
    /// and `X.entry.1` and a single value without a number, as other SQS-compatible servers do.
    pub(super) fn elements<'n>(nodes: &[&'n Node<'a>]) -> Vec<&'n Node<'a>> {
        let [node] = nodes else { return nodes.to_vec() };
        if let [(name, inner)] = node.members.as_slice()
            && (name == "member" || name == "entry")
        {
            return Self::elements(&[inner]);
        }
        let mut numbered: Vec<(u64, &Node<'a>)> =
            node.members.iter().filter_map(|(name, child)| Some((name.parse().ok()?, child))).collect();
        if numbered.is_empty() {
            return nodes.to_vec();
        }
        numbered.sort_by_key(|(number, _)| *number);
        numbered.into_iter().map(|(_, child)| child).collect()
    }

    /// Whether the node has neither text nor members.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.members.is_empty()
    }
}
