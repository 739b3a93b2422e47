#!/usr/bin/env bash
# Runs the Python snippets and the curl commands of a page against the given servers.
# Usage: snippets.sh PAGE PYTHON ENDPOINT S3_ENDPOINT
set -euo pipefail
page=$1 python=$2
export AWS_ENDPOINT_URL_SQS=$3 AWS_ENDPOINT_URL_S3=$4
export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
name=$(basename "$(dirname "$(realpath "$page")")")/$(basename "$page")

# Some commands write files.
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
addressed=$(sed -E "s,http://(localhost|127\.0\.0\.1):9324,$3,g" "$page")
snippets=$(sed -n '/^```python$/,/^```$/{/^```/d;p}' <<<"$addressed")
commands=$(sed -n '/^```console$/,/^```$/s/^\(\$ \)\{0,1\}\(curl .*\)/\2/p' <<<"$addressed")
[ -n "$snippets$commands" ] || { echo "$name has no Python snippets and no curl commands" >&2; exit 1; }

cd "$directory"
"$python" -c "$snippets" || { printf 'the Python snippets of %s failed:\n%s\n' "$name" "$snippets" >&2; exit 1; }
while read -r command; do
    [ -n "$command" ] || continue
    # Without --fail, curl ignores error statuses.
    (
        curl() { command curl --silent --show-error --fail --output /dev/null "$@"; }
        eval "$command" </dev/null
    ) || { printf 'a command of %s failed:\n%s\n' "$name" "$command" >&2; exit 1; }
done <<<"$commands"
echo "ok: snippets of $name"
