#!/usr/bin/env bash
# Tests S3 of the server with the AWS CLI. Usage: tour_s3_cli.sh S3_ENDPOINT
set -euo pipefail
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

s3() {
    aws --endpoint-url "$endpoint" s3 "$@" --only-show-errors
}
endpoint=$1

head -c 20000000 /dev/urandom >"$files/big"
s3 cp "$files/big" s3://payloads/cli/big
s3 cp s3://payloads/cli/big "$files/back"
cmp "$files/big" "$files/back"
printf tea | s3 cp - "s3://payloads/cli/a b"
[ "$(s3 cp "s3://payloads/cli/a b" -)" = tea ]
[ "$(aws --endpoint-url "$endpoint" s3 ls s3://payloads/cli/ | wc -l)" = 2 ]
s3 rm --recursive s3://payloads/cli/
[ -z "$(aws --endpoint-url "$endpoint" s3 ls s3://payloads/)" ]
echo "ok: S3, AWS CLI"
