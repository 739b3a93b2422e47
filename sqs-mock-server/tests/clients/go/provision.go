package main

import (
	"errors"
	"fmt"
	"maps"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// The steps in this file and the next send the requests of Terraform's resources in their order: they create a resource,
// wait until the server returns what they set, change it, wait again, delete it, and wait until it is not found.

// provisionQueue replays `aws_sqs_queue`.
func provisionQueue(t tour, fifo bool) {
	identity(t, fifo)
	dead := makeQueue(t.sqs, "provisioned-dead", fifo, nil).arn()
	attributes := map[string]string{
		"DelaySeconds": "5", "MaximumMessageSize": "2048", "MessageRetentionPeriod": "86400",
		"ReceiveMessageWaitTimeSeconds": "10", "VisibilityTimeout": "60", "SqsManagedSseEnabled": "true",
		"Policy":             policyFor("111122223333"),
		"RedrivePolicy":      redrivePolicy(dead, "4"),
		"RedriveAllowPolicy": `{"redrivePermission":"denyAll"}`,
	}
	q := queue{sqs: t.sqs, name: "go-provisioned", fifo: fifo}
	if fifo {
		q.name += ".fifo"
		attributes["FifoQueue"], attributes["ContentBasedDeduplication"] = "true", "true"
		attributes["DeduplicationScope"], attributes["FifoThroughputLimit"] = "messageGroup", "perMessageGroupId"
	}
	tags := map[string]string{"Name": "orders", "empty": ""}
	create := &sqs.CreateQueueInput{QueueName: &q.name, Attributes: attributes, Tags: tags}
	q.url = must(t.sqs.CreateQueue(background, create)).QueueUrl
	equal("/000000000000/"+q.name, must(url.Parse(*q.url)).Path)
	q.waitFor(attributes)
	equal(tags, q.tags())

	q.setAndWait(map[string]string{
		"DelaySeconds": "0", "VisibilityTimeout": "30", "SqsManagedSseEnabled": "false", "Policy": "",
		"RedrivePolicy": redrivePolicy(dead, "5"), "RedriveAllowPolicy": "",
	})
	// SQS returns the count as a number, also after a string.
	set := &sqs.SetQueueAttributesInput{
		QueueUrl: q.url, Attributes: map[string]string{"RedrivePolicy": redrivePolicy(dead, `"6"`)},
	}
	must(t.sqs.SetQueueAttributes(background, set))
	q.waitFor(map[string]string{"RedrivePolicy": redrivePolicy(dead, "6")})
	q.setAndWait(map[string]string{"KmsMasterKeyId": "alias/aws/sqs", "KmsDataKeyReusePeriodSeconds": "600"})
	q.setAndWait(map[string]string{"KmsMasterKeyId": "", "SqsManagedSseEnabled": "true"})
	must(t.sqs.UntagQueue(background, &sqs.UntagQueueInput{QueueUrl: q.url, TagKeys: []string{"Name"}}))
	must(t.sqs.TagQueue(background, &sqs.TagQueueInput{QueueUrl: q.url, Tags: map[string]string{"Team": "a & b"}}))
	equal(map[string]string{"empty": "", "Team": "a & b"}, q.tags())
	q.deleteAndWait()

	refusals := 0
	eventually("the name of a deleted queue can be used again", func() bool {
		_, err := t.sqs.CreateQueue(background, create)
		if isA[*types.QueueDeletedRecently](err) {
			refusals++
			t.mock.advance(20)
			return false
		}
		equal(nil, err)
		return true
	})
	equal(true, refusals > 0)
	q.waitFor(attributes)
	q.deleteAndWait()
}

// provisionPolicy replays `aws_sqs_queue_policy`.
func provisionPolicy(t tour, _ bool) {
	q := makeQueue(t.sqs, "provisioned-policy", false, nil)
	q.setAndWait(map[string]string{"Policy": policyFor("111122223333")})
	read := must(q.attributes(types.QueueAttributeNamePolicy))
	equal(true, sameJSON(policyFor("111122223333"), read["Policy"]))
	q.setAndWait(map[string]string{"Policy": policyFor("444455556666")})
	q.setAndWait(map[string]string{"Policy": ""})
	equal(0, len(must(q.attributes(types.QueueAttributeNamePolicy))))
}

func redrivePolicy(arn, count string) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%s}`, arn, count)
}

func policyFor(account string) string {
	return fmt.Sprintf(`{
  "Version": "2012-10-17",
  "Statement": [{
    "Sid": "send", "Effect": "Allow", "Action": ["sqs:SendMessage", "sqs:GetQueueUrl"], "Resource": "*",
    "Principal": {"AWS": "arn:aws:iam::%s:root"}, "Condition": {"Bool": {"aws:SecureTransport": "true"}}
  }]
}`, account)
}

func (q queue) setAndWait(attributes map[string]string) {
	must(q.sqs.SetQueueAttributes(background, &sqs.SetQueueAttributesInput{QueueUrl: q.url, Attributes: attributes}))
	q.waitFor(attributes)
}

// waitFor waits until the queue has these attributes. An empty value is an absent attribute.
func (q queue) waitFor(expected map[string]string) {
	var got map[string]string
	defer explain(&got)
	eventually("the queue has the attributes that were set", func() bool {
		got = must(q.attributes(types.QueueAttributeNameAll))
		return includes(got, expected)
	})
}

// includes compares documents by their JSON values, and other attributes as strings.
func includes(got, expected map[string]string) bool {
	for name, value := range expected {
		if got[name] != value && !sameJSON(got[name], value) {
			return false
		}
	}
	return true
}

// explain prints what a failed wait got last.
func explain(got *map[string]string) {
	if reason := recover(); reason != nil {
		fail("%v; the last answer was %v", reason, *got)
	}
}

func (q queue) tags() map[string]string {
	return maps.Clone(must(q.sqs.ListQueueTags(background, &sqs.ListQueueTagsInput{QueueUrl: q.url})).Tags)
}

func (q queue) deleteAndWait() {
	must(q.sqs.DeleteQueue(background, &sqs.DeleteQueueInput{QueueUrl: q.url}))
	eventually("the queue does not exist", func() bool {
		_, err := q.attributes(types.QueueAttributeNameAll)
		var failure smithy.APIError
		return isA[*types.QueueDoesNotExist](err) && errors.As(err, &failure) &&
			failure.ErrorCode() == prefix+"NonExistentQueue"
	})
}
