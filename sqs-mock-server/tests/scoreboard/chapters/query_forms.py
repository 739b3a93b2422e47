"""Forms as text, for requests that are checked as bytes."""

from urllib.parse import urlencode


def path_of(url):
    return "/" + url.split("/", 3)[3]


def form(action, url=None, **fields):
    pairs = {"Action": action, "Version": "2012-11-05", **({"QueueUrl": url} if url else {}), **fields}
    return urlencode(pairs)


def accepted(response):
    assert response.status == 200, response.text()[:300]
    return response
