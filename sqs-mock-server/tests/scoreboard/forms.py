"""Inputs as forms of the Query protocol: those of SQS from AWS JSON, and those of SNS."""

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


def sns_form_of(action, members):
    return urlencode([("Action", action), ("Version", "2010-03-31"), *sns_fields(members, "")])


def sns_fields(members, prefix):
    """Lists and maps of SNS have levels of their own: `member` and `entry`."""
    for member, value in members.items():
        name = prefix + member
        if isinstance(value, dict):
            for number, (key, entry) in enumerate(value.items(), 1):
                start = f"{name}.entry.{number}."
                if isinstance(entry, dict):
                    yield start + "Name", key
                    yield from sns_fields(entry, start + "Value.")
                else:
                    yield start + "key", key
                    yield start + "value", entry
        elif isinstance(value, list):
            for number, entry in enumerate(value, 1):
                if isinstance(entry, dict):
                    yield from sns_fields(entry, f"{name}.member.{number}.")
                else:
                    yield f"{name}.member.{number}", entry
        else:
            yield name, value
