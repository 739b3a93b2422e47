#!/usr/bin/env bash
# Tests the server with the AWS CLI. Usage: tour_cli.sh ENDPOINT; `aws` and `python3` must be on the path.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "$0")" && pwd)
endpoint=$1
export AWS_REGION=us-west-2 AWS_DEFAULT_REGION=us-west-2 AWS_MAX_ATTEMPTS=1
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_OUTPUT=text AWS_PAGER=""
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null

# The CLI reads a binary value as text and prints it in base64.
attributes='{"text":{"DataType":"String","StringValue":"Zürich <&>"},"number":{"DataType":"Number","StringValue":"42"},"bytes":{"DataType":"Binary","BinaryValue":"12 bytes <&>"}}'
body='№ 42: a "message" & more'

fail() {
    echo "tour_cli.sh: $*" >&2
    exit 1
}

equal() {
    [ "$1" = "$2" ] || fail "line ${BASH_LINENO[0]}: expected '$2', got '$1'"
}

rejected() {
    local code=$1 message
    shift
    if message=$("$@" 2>&1); then fail "line ${BASH_LINENO[0]}: not rejected: $*"; fi
    case $message in
    *"($code)"*) ;;
    *) fail "line ${BASH_LINENO[0]}: expected $code, got $message" ;;
    esac
}

# Version 1 of the AWS CLI ignores AWS_ENDPOINT_URL_SQS in regions with legacy SQS hosts.
sqs() {
    aws --endpoint-url "$endpoint" sqs "$@"
}

sns() {
    aws --endpoint-url "$endpoint" sns "$@"
}

body_md5=$(printf %s "$body" | md5sum | cut -d ' ' -f 1)
attributes_md5=$(printf %s "$attributes" | python3 "$here/checksums.py")

url=$(sqs create-queue --queue-name cli --attributes VisibilityTimeout=60 --tags team=blue --query QueueUrl)
equal "$url" "$endpoint/000000000000/cli"
equal "$(sqs get-queue-url --queue-name cli --query QueueUrl)" "$url"
equal "$(sqs list-queues --queue-name-prefix cli --query 'QueueUrls[]')" "$url"

sent=$(sqs send-message --queue-url "$url" --message-body "$body" --message-attributes "$attributes" \
    --query '[MD5OfMessageBody,MD5OfMessageAttributes]')
equal "$sent" "$body_md5"$'\t'"$attributes_md5"
received=$(sqs receive-message --queue-url "$url" --message-attribute-names All --attribute-names All --output json)
field() {
    printf %s "$received" | python3 -c "import json, sys; print(json.load(sys.stdin)['Messages'][0]$1)"
}
equal "$(field "['Body']")" "$body"
equal "$(field "['MD5OfBody']")" "$body_md5"
equal "$(field "['MD5OfMessageAttributes']")" "$attributes_md5"
equal "$(field "['MessageAttributes']['bytes']['BinaryValue']")" "$(printf %s '12 bytes <&>' | base64)"
equal "$(field "['Attributes']['ApproximateReceiveCount']")" 1

handle=$(field "['ReceiptHandle']")
sqs change-message-visibility --queue-url "$url" --receipt-handle "$handle" --visibility-timeout 0
handle=$(sqs receive-message --queue-url "$url" --query 'Messages[0].ReceiptHandle')
sqs delete-message --queue-url "$url" --receipt-handle "$handle"
rejected ReceiptHandleIsInvalid sqs delete-message --queue-url "$url" --receipt-handle garbage

batch=$(sqs send-message-batch --queue-url "$url" --entries Id=a,MessageBody=one Id=b,MessageBody=two \
    --query 'Successful[].Id')
equal "$batch" $'a\tb'
handles=$(sqs receive-message --queue-url "$url" --max-number-of-messages 10 --query 'Messages[].ReceiptHandle')
read -r first second <<<"$handles"
deleted=$(sqs delete-message-batch --queue-url "$url" --entries "Id=a,ReceiptHandle=$first" \
    "Id=b,ReceiptHandle=$second" Id=c,ReceiptHandle=garbage --query '[length(Successful),Failed[0].Code]')
equal "$deleted" $'2\tReceiptHandleIsInvalid'

sqs tag-queue --queue-url "$url" --tags stage=test
sqs untag-queue --queue-url "$url" --tag-keys team
equal "$(sqs list-queue-tags --queue-url "$url" --query Tags.stage)" test
sqs set-queue-attributes --queue-url "$url" --attributes DelaySeconds=0,VisibilityTimeout=7
equal "$(sqs get-queue-attributes --queue-url "$url" --attribute-names All --query Attributes.VisibilityTimeout)" 7
sqs purge-queue --queue-url "$url"

fifo=$(sqs create-queue --queue-name cli.fifo --attributes FifoQueue=true --query QueueUrl)
sqs send-message --queue-url "$fifo" --message-body one --message-group-id g --message-deduplication-id 1 \
    --message-attributes "$attributes" >/dev/null
sqs send-message --queue-url "$fifo" --message-body two --message-group-id g --message-deduplication-id 2 >/dev/null
equal "$(sqs receive-message --queue-url "$fifo" --max-number-of-messages 10 --query 'Messages[].Body')" $'one\ttwo'

rejected AWS.SimpleQueueService.NonExistentQueue sqs get-queue-url --queue-name nowhere
rejected MissingParameter sqs send-message --queue-url "$fifo" --message-body x
policy='{"Statement":{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*"}}'
sqs set-queue-attributes --queue-url "$url" --attributes "{\"Policy\":\"${policy//\"/\\\"}\"}"
equal "$(aws --endpoint-url "$endpoint" sts get-caller-identity --query Account)" 000000000000
topic=$(sns create-topic --name cli --attributes DisplayName=CLI --tags Key=team,Value=blue --query TopicArn)
equal "$topic" arn:aws:sns:us-west-2:000000000000:cli
subscription=$(sns subscribe --topic-arn "$topic" --protocol sqs --query SubscriptionArn \
    --notification-endpoint arn:aws:sqs:us-west-2:000000000000:cli \
    --attributes '{"RawMessageDelivery":"true","FilterPolicy":"{\"number\":[42]}"}')
sns publish --topic-arn "$topic" --message "not for the queue" >/dev/null
sns publish --topic-arn "$topic" --message "$body" --message-attributes "$attributes" >/dev/null
received=$(sqs receive-message --queue-url "$url" --message-attribute-names All --output json)
equal "$(field "['Body']")" "$body"
equal "$(field "['MD5OfMessageAttributes']")" "$attributes_md5"
sns unsubscribe --subscription-arn "$subscription"
rejected NotFound sns get-subscription-attributes --subscription-arn "$subscription"
rejected InvalidParameter sns publish --topic-arn "$topic" --message ""
sns delete-topic --topic-arn "$topic"

sqs delete-queue --queue-url "$fifo"
sqs delete-queue --queue-url "$url"
equal "$(sqs list-queues --queue-name-prefix cli --query 'QueueUrls[]')" None

echo "ok: $(aws --version 2>&1 | cut -d ' ' -f 1)"
