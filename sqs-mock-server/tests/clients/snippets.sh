#!/usr/bin/env bash
# Runs the Python of a page, then its curl commands, with the addresses of these servers:
# snippets.sh PAGE PYTHON ENDPOINT S3_ENDPOINT
set -euo pipefail
page=$1 python=$2
export AWS_ENDPOINT_URL_SQS=$3 AWS_ENDPOINT_URL_S3=$4
export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
name=$(basename "$(dirname "$(realpath "$page")")")/$(basename "$page")

addressed=$(sed -E "s,http://(localhost|127\.0\.0\.1):9324,$3,g" "$page")
snippets=$(sed -n '/^```python$/,/^```$/{/^```/d;p}' <<<"$addressed")
commands=$(sed -n '/^```console$/,/^```$/s/^\(\$ \)\{0,1\}\(curl .*\)/\2/p' <<<"$addressed")
[ -n "$snippets$commands" ] || { echo "$name has neither Python nor curl" >&2; exit 1; }

"$python" -c "$snippets" || { printf 'this Python of %s failed:\n%s\n' "$name" "$snippets" >&2; exit 1; }
while read -r command; do
    [ -n "$command" ] || continue
    # Without --fail, curl takes any answer for a good one.
    (
        curl() { command curl --silent --show-error --fail --output /dev/null "$@"; }
        eval "$command" </dev/null
    ) || { printf 'this command of %s failed:\n%s\n' "$name" "$command" >&2; exit 1; }
done <<<"$commands"
echo "ok: snippets of $name"
