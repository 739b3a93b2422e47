"""Outputs of the Query protocol: those of SQS as in AWS JSON, and those of SNS."""

import xml.etree.ElementTree as ElementTree

MAPS = {"Attribute": ("Attributes", "Name"), "MessageAttribute": ("MessageAttributes", "Name"), "Tag": ("Tags", "Key")}
LISTS = {
    ("QueueUrl", "ListQueues"): "QueueUrls",
    ("QueueUrl", "ListDeadLetterSourceQueues"): "queueUrls",
    ("Message", "ReceiveMessage"): "Messages",
    ("ListMessageMoveTasksResultEntry", "ListMessageMoveTasks"): "Results",
}
NUMBERS = {
    "ApproximateNumberOfMessagesMoved",
    "ApproximateNumberOfMessagesToMove",
    "MaxNumberOfMessagesPerSecond",
    "StartedTimestamp",
}


class Document:
    """A response, whose elements have their names without the namespace."""

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.namespace = ""
        for element in self.root.iter():
            namespace, _, name = element.tag.rpartition("}")
            self.namespace = self.namespace or namespace.removeprefix("{")
            element.tag = name

    def path(self, *names):
        """The names of the elements below the root must be these; returns the last one."""
        element = self.root
        for name in names:
            found = element.find(name)
            assert found is not None, f"no element {name} in {element.tag}"
            element = found
        return element

    def output(self, action):
        result = self.root.find(f"{action}Result")
        return {} if result is None else shape(action, result)


def shape(action, element):
    members = {}
    for child in element:
        name = child.tag
        if name in MAPS:
            member, key = MAPS[name]
            value = child.find("Value")
            assert value is not None, f"{name} without Value"
            members.setdefault(member, {})[child.findtext(key)] = content(action, value)
        elif (name, action) in LISTS:
            members.setdefault(LISTS[name, action], []).append(content(action, child))
        elif name == f"{action}ResultEntry":
            members.setdefault("Successful", []).append(shape(action, child))
        elif name == "BatchResultErrorEntry":
            members.setdefault("Failed", []).append(shape(action, child))
        else:
            members[name] = content(action, child)
    return members


def content(action, element):
    if len(element):
        return shape(action, element)
    text = element.text or ""
    if element.tag == "SenderFault":
        return text == "true"
    return int(text) if element.tag in NUMBERS else text


def sns_output(document, action):
    """Lists are `member` elements, maps `entry` elements."""
    result = document.root.find(f"{action}Result")
    return {} if result is None else sns_shape(result) or {}


def sns_shape(element):
    names = {child.tag for child in element}
    if not names:
        return element.text or ""
    if names == {"member"}:
        return [sns_shape(child) for child in element]
    if names == {"entry"}:
        return {child.findtext("key"): child.findtext("value") or "" for child in element}
    return {child.tag: sns_shape(child) for child in element}
