//! Parses forms and XML to sorted trees, independently of the crate under test.
//!
//! The order of elements and the numbers of map entries have no meaning, so tests compare sorted trees.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::Event;

#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Tree {
    pub(crate) text: String,
    pub(crate) members: Vec<(String, Tree)>,
}

impl Tree {
    /// Parses XML. Supports only the references `&amp;`, `&lt;`, `&gt;`, `&quot;` and `&#xD;`.
    pub(crate) fn of_xml(xml: &[u8]) -> Self {
        let mut reader = Reader::from_str(std::str::from_utf8(xml).unwrap());
        reader.config_mut().expand_empty_elements = true;
        let mut open = vec![(String::new(), Self::default())];
        loop {
            match reader.read_event().unwrap() {
                Event::Start(start) => {
                    let name = start.name().as_ref().to_owned();
                    let attributes = start.attributes().map(|attribute| attribute.unwrap());
                    let text = attributes.map(|a| [a.key.as_ref(), "=", &a.value].concat()).collect();
                    open.push((name, Self { text, members: Vec::new() }));
                }
                Event::End(_) => {
                    let (name, mut closed) = open.pop().unwrap();
                    closed.members.sort();
                    open.last_mut().unwrap().1.members.push((name, closed));
                }
                Event::Text(text) => open.last_mut().unwrap().1.text.push_str(&text),
                Event::GeneralRef(reference) => open.last_mut().unwrap().1.text.push(match &*reference {
                    "amp" => '&',
                    "lt" => '<',
                    "gt" => '>',
                    "quot" => '"',
                    "#xD" => '\r',
                    other => panic!("unexpected reference &{other};"),
                }),
                Event::Eof => break,
                _ => {}
            }
        }
        let [(_, document)] = <[_; 1]>::try_from(open).unwrap();
        document
    }

    /// Parses a form. Panics unless every list is numbered 1, 2, ..
    pub(crate) fn of_form(form: &[u8]) -> Self {
        let mut root = Level::default();
        for pair in std::str::from_utf8(form).unwrap().split('&') {
            let (name, value) = pair.split_once('=').unwrap();
            let value = value.replace('+', " ");
            let level =
                name.split('.').fold(&mut root, |level, part| level.members.entry(part.into()).or_default());
            assert_eq!(level.text, "", "{name} occurs twice");
            level.text = percent_encoding::percent_decode_str(&value).decode_utf8().unwrap().into_owned();
        }
        root.into_tree()
    }
}

#[derive(Default)]
struct Level {
    text: String,
    members: BTreeMap<String, Level>,
}

impl Level {
    fn into_tree(self) -> Tree {
        let mut members = Vec::new();
        for (name, level) in self.members {
            if level.members.keys().any(|key| key.parse::<usize>().is_ok()) {
                let mut numbers: Vec<usize> = level.members.keys().map(|key| key.parse().unwrap()).collect();
                numbers.sort_unstable();
                assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>(), "numbers of {name}");
                members
                    .extend(level.members.into_values().map(|element| (name.clone(), element.into_tree())));
            } else {
                members.push((name, level.into_tree()));
            }
        }
        members.sort();
        Tree { text: self.text, members }
    }
}
