"""Signatures of SNS messages: RSA PKCS#1 v1.5 with the key of a certificate."""

import base64
import hashlib
import ssl

FIELDS = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
}
# What is before the digest: its algorithm, in DER.
ALGORITHMS = {
    "1": (hashlib.sha1, "3021300906052b0e03021a05000414"),
    "2": (hashlib.sha256, "3031300d060960864801650304020105000420"),
}


def is_signed(message, certificate):
    """Whether the key of the certificate, a PEM text, signed the message."""
    fields = FIELDS.get(message["Type"], FIELDS["SubscriptionConfirmation"])
    text = "".join(f"{name}\n{message[name]}\n" for name in fields if name in message)
    digest, prefix = ALGORITHMS[message["SignatureVersion"]]
    modulus, exponent = public_key(certificate)
    length = (modulus.bit_length() + 7) // 8
    info = bytes.fromhex(prefix) + digest(text.encode()).digest()
    expected = b"\x00\x01" + b"\xff" * (length - len(info) - 3) + b"\x00" + info
    signature = int.from_bytes(base64.b64decode(message["Signature"], validate=True))
    return pow(signature, exponent, modulus).to_bytes(length) == expected


def public_key(certificate):
    """The modulus and the exponent of an RSA key."""
    [whole] = elements(ssl.PEM_cert_to_DER_cert(certificate))
    to_be_signed = elements(elements(whole[1])[0][1])
    # Without the version, which is optional: serial number, algorithm, issuer, validity, subject, key.
    fields = [element for element in to_be_signed if element[0] != 0xA0]
    _, (_, bits) = elements(fields[5][1])
    # The first byte of a bit string is the number of unused bits.
    [key] = elements(bits[1:])
    modulus, exponent = (int.from_bytes(content) for _, content in elements(key[1]))
    return modulus, exponent


def elements(data):
    """The tags and contents of a sequence in DER."""
    found = []
    while data:
        length, start = data[1], 2
        if length >= 0x80:
            start += length & 0x7F
            length = int.from_bytes(data[2:start])
        found.append((data[0], data[start : start + length]))
        data = data[start + length :]
    return found
