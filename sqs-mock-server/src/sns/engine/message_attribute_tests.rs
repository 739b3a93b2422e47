//! Contract 2.8.

use super::*;

fn of(data_type: &str, text: Option<&str>, bytes: Option<&[u8]>) -> MessageAttributeValue {
    let builder = MessageAttributeValue::builder().data_type(data_type);
    let builder = builder.set_string_value(text.map(str::to_owned));
    builder.set_binary_value(bytes.map(Into::into)).build().unwrap()
}

fn fault(name: &str, attribute: MessageAttributeValue) -> Option<String> {
    let checked = validate(&HashMap::from([(name.to_owned(), attribute)]));
    checked.err().map(|error| {
        assert_eq!((error.status, &*error.code), (400, "ParameterValueInvalid"));
        error.message
    })
}

#[test]
fn values_must_be_in_the_field_of_their_type() {
    let text = Some("x");
    let bytes = Some(&b"x"[..]);
    let empty = "must contain non-empty message attribute value for message attribute type";
    let table = [
        ("String", None, None, format!("{empty} 'String'.")),
        ("String", Some(""), None, format!("{empty} 'String'.")),
        ("Binary", None, None, format!("{empty} 'Binary'.")),
        ("String", None, bytes, "with type 'String' must use field 'String'.".to_owned()),
        ("Number", None, bytes, "with type 'Number' must use field 'String'.".to_owned()),
        ("Binary", text, None, "with type 'Binary' must use field 'Binary'.".to_owned()),
    ];
    for (data_type, text, bytes, expected) in table {
        let expected = format!("The message attribute 'attr1' {expected}");
        assert_eq!(fault("attr1", of(data_type, text, bytes)), Some(expected));
    }
    let number = Some("Could not cast message attribute 'price' value to number.".to_owned());
    for text in ["a", "1 2", "inf", "NaN", "0x1"] {
        assert_eq!(fault("price", of("Number", Some(text), None)), number, "{text}");
    }
}

#[test]
fn types_have_one_of_three_prefixes() {
    let expected = "The message attribute 'a' has an invalid message attribute type, the set of supported type \
                    prefixes is Binary, Number, and String.";
    for data_type in ["InvalidType", "String.", "Stringprefixed"] {
        assert_eq!(fault("a", of(data_type, Some("x"), None)).as_deref(), Some(expected), "{data_type}");
    }
    for data_type in ["String", "String.prefixed", "String.  prefixed."] {
        assert_eq!(fault("a", of(data_type, Some("x"), None)), None, "{data_type}");
    }
    assert_eq!(fault("a", of("String.Array", Some(r#"["a",1,true,null]"#), None)), None);
    assert!(fault("a", of("String.Array", Some(r#"[["a"]]"#), None)).is_some());
}

#[test]
fn names_have_letters_digits_and_single_dots() {
    let long = "a".repeat(257);
    let table = [
        (long.as_str(), "Length of message attribute name must be less than 256 bytes."),
        (
            "a^b",
            "Invalid non-alphanumeric character '#x5E' was found in the message attribute name. Can only include \
             alphanumeric characters, hyphens, underscores, or dots.",
        ),
        (".a", "Invalid message attribute name starting with character '.' was found."),
        ("a.", "Invalid message attribute name ending with character '.' was found."),
        ("a..b", "Message attribute name can not have successive '.' character."),
    ];
    for (name, expected) in table {
        assert_eq!(fault(name, of("String", Some("x"), None)).as_deref(), Some(expected), "{name}");
    }
    assert_eq!(fault("a-b_c.d", of("String", Some("x"), None)), None);
}
