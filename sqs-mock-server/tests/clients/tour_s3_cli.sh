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
# Between keys: by CopyObject, and the large one by UploadPartCopy.
s3 cp "s3://payloads/cli/a b" s3://payloads/copies/a
s3 cp s3://payloads/cli/big s3://payloads/copies/big
s3 cp s3://payloads/copies/big "$files/copied"
cmp "$files/big" "$files/copied"
s3 mv s3://payloads/copies/a s3://payloads/moved/a
[ "$(s3 cp s3://payloads/moved/a -)" = tea ]
s3 sync s3://payloads/copies/ s3://payloads/moved/
[ "$(aws --endpoint-url "$endpoint" s3 ls s3://payloads/copies/ | wc -l)" = 1 ]
[ "$(aws --endpoint-url "$endpoint" s3 ls s3://payloads/moved/ | wc -l)" = 2 ]
s3 rm --recursive s3://payloads/copies/
s3 rm --recursive s3://payloads/moved/
s3 rm --recursive s3://payloads/cli/
[ -z "$(aws --endpoint-url "$endpoint" s3 ls s3://payloads/)" ]
echo "ok: S3, AWS CLI"
