"""MD5 digests of bodies and message attributes, according to the Amazon SQS Developer Guide.

This implementation is independent of the Rust code, so that equal results confirm both. As a program, it reads
attributes from standard input, in the JSON form of version 1 of the AWS CLI.
"""

import hashlib
import json
import struct
import sys


def of_body(body):
    return hashlib.md5(body.encode()).hexdigest()


def of_attributes(attributes):
    digest = hashlib.md5()

    def add(data):
        digest.update(struct.pack(">I", len(data)) + data)

    for name in sorted(attributes, key=str.encode):
        value = attributes[name]
        add(name.encode())
        add(value["DataType"].encode())
        if value["DataType"].startswith("Binary"):
            digest.update(b"\x02")
            add(value["BinaryValue"])
        else:
            digest.update(b"\x01")
            add(value["StringValue"].encode())
    return digest.hexdigest()


if __name__ == "__main__":
    given = json.load(sys.stdin)
    for attribute in given.values():
        if "BinaryValue" in attribute:
            attribute["BinaryValue"] = attribute["BinaryValue"].encode()
    print(of_attributes(given))
