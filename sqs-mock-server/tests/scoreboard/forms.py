"""Inputs of AWS JSON as forms of the Query protocol."""

from urllib.parse import urlencode

# Member: name in forms. Maps have the names of their keys and values too.
LISTS = {
    "AttributeNames": "AttributeName",
    "MessageSystemAttributeNames": "AttributeName",
    "MessageAttributeNames": "MessageAttributeName",
    "TagKeys": "TagKey",
    "AWSAccountIds": "AWSAccountId",
    "Actions": "ActionName",
    "StringListValues": "StringListValue",
    "BinaryListValues": "BinaryListValue",
}
MAPS = {
    "Attributes": ("Attribute", "Name"),
    "MessageAttributes": ("MessageAttribute", "Name"),
    "MessageSystemAttributes": ("MessageSystemAttribute", "Name"),
    "Tags": ("Tag", "Key"),
    "tags": ("Tag", "Key"),
}


def form_of(action, members):
    pairs = [("Action", action), ("Version", "2012-11-05"), *fields(action, members, "")]
    return urlencode(pairs)


def fields(action, members, prefix):
    for member, value in members.items():
        if member in MAPS:
            name, key = MAPS[member]
            for number, (of, entry) in enumerate(value.items(), 1):
                start = f"{prefix}{name}.{number}."
                yield start + key, of
                if isinstance(entry, dict):
                    yield from fields(action, entry, start + "Value.")
                else:
                    yield start + "Value", entry
        elif member == "Entries":
            for number, entry in enumerate(value, 1):
                yield from fields(action, entry, f"{prefix}{action}RequestEntry.{number}.")
        elif member in LISTS:
            for number, entry in enumerate(value, 1):
                yield f"{prefix}{LISTS[member]}.{number}", entry
        else:
            yield prefix + member, value
