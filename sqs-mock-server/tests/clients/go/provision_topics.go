package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
)

// provisionTopic replays `aws_sns_topic`.
func provisionTopic(t tour, fifo bool) {
	create := &sns.CreateTopicInput{
		Name: aws.String("go-provisioned"), Attributes: map[string]string{},
		Tags: []types.Tag{tag("Name", "orders"), tag("empty", "")},
	}
	if fifo {
		create.Name = aws.String("go-provisioned.fifo")
		create.Attributes["FifoTopic"] = "true"
	}
	made := topic{sns: t.sns, fifo: fifo, arn: must(t.sns.CreateTopic(background, create)).TopicArn}
	equal("arn:aws:sns:us-east-1:000000000000:"+*create.Name, *made.arn)
	role := "arn:aws:iam::000000000000:role/logs"
	attributes := map[string]string{
		"DisplayName": "Orders", "KmsMasterKeyId": "alias/aws/sns", "SignatureVersion": "2", "TracingConfig": "Active",
		"Policy":                    topicPolicy(*made.arn),
		"SQSSuccessFeedbackRoleArn": role, "SQSSuccessFeedbackSampleRate": "50", "SQSFailureFeedbackRoleArn": role,
	}
	if fifo {
		attributes["ContentBasedDeduplication"], attributes["FifoThroughputScope"] = "true", "MessageGroup"
		attributes["ArchivePolicy"] = `{"MessageRetentionPeriod":30}`
	}
	for name, value := range attributes {
		equal(nil, made.set(name, &value))
	}
	made.waitFor(attributes)
	equal(map[string]string{"Name": "orders", "empty": ""}, made.tags())

	for name, value := range map[string]string{"DisplayName": "", "KmsMasterKeyId": "", "SQSSuccessFeedbackRoleArn": ""} {
		equal(nil, made.set(name, &value))
		made.waitFor(map[string]string{name: value})
	}
	must(t.sns.UntagResource(background, &sns.UntagResourceInput{ResourceArn: made.arn, TagKeys: []string{"Name"}}))
	equal(map[string]string{"empty": ""}, made.tags())
	made.deleteAndWait()

	// All attributes at once, and a name that was deleted just now.
	create.Attributes = attributes
	create.Tags = nil
	if fifo {
		create.Attributes["FifoTopic"] = "true"
	}
	must(t.sns.CreateTopic(background, create))
	made.waitFor(attributes)
	made.deleteAndWait()
}

// provisionSubscription replays `aws_sns_topic_subscription`.
func provisionSubscription(t tour, fifo bool) {
	made := makeTopic(t.sns, "provisioned-subscription", fifo)
	arn, dead := made.makeTarget(t, "provisioned-target").arn(), made.makeTarget(t, "provisioned-dead-target").arn()
	redrive := fmt.Sprintf(`{"deadLetterTargetArn": %q}`, dead)
	subscribe := &sns.SubscribeInput{
		TopicArn: made.arn, Protocol: aws.String("sqs"), Endpoint: &arn, ReturnSubscriptionArn: true,
		Attributes: map[string]string{
			"RawMessageDelivery": "true", "FilterPolicy": `{"kind": ["tea"]}`, "RedrivePolicy": redrive,
		},
	}
	subscription := must(t.sns.Subscribe(background, subscribe)).SubscriptionArn
	equal(true, strings.HasPrefix(*subscription, *made.arn+":"))
	made.waitForSubscription(subscription, map[string]string{"PendingConfirmation": "false"})
	made.waitForSubscription(subscription, subscribe.Attributes)
	made.waitForSubscription(subscription, map[string]string{
		"FilterPolicyScope": "MessageAttributes", "ConfirmationWasAuthenticated": "true", "Protocol": "sqs",
		"Endpoint": arn, "TopicArn": *made.arn, "SubscriptionArn": *subscription, "Owner": "000000000000",
	})

	// The scope comes first: it decides which policies are valid. A redrive policy ends with an absent value.
	changes := []struct{ name, value string }{
		{"FilterPolicyScope", "MessageBody"}, {"FilterPolicy", `{"order":{"kind":["tea"]}}`},
		{"RawMessageDelivery", "false"}, {"RedrivePolicy", ""},
	}
	for _, change := range changes {
		set := &sns.SetSubscriptionAttributesInput{SubscriptionArn: subscription, AttributeName: &change.name}
		if change.value != "" {
			set.AttributeValue = &change.value
		}
		must(t.sns.SetSubscriptionAttributes(background, set))
		made.waitForSubscription(subscription, map[string]string{change.name: change.value})
	}
	must(t.sns.SetSubscriptionAttributes(background, &sns.SetSubscriptionAttributesInput{
		SubscriptionArn: subscription, AttributeName: aws.String("FilterPolicy"), AttributeValue: aws.String(""),
	}))
	made.waitForSubscription(subscription, map[string]string{"FilterPolicy": "", "FilterPolicyScope": ""})

	must(t.sns.Unsubscribe(background, &sns.UnsubscribeInput{SubscriptionArn: subscription}))
	eventually("the subscription does not exist", func() bool {
		_, err := made.subscriptionAttributes(subscription)
		return isA[*types.NotFoundException](err)
	})
	made.deleteAndWait()
}

func topicPolicy(arn string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Sid":"publish","Effect":"Allow",`+
		`"Principal":{"Service":"s3.amazonaws.com"},"Action":"SNS:Publish","Resource":%q}]}`, arn)
}

// waitFor waits until the topic has these attributes. An empty value is an absent attribute.
func (t topic) waitFor(expected map[string]string) {
	var got map[string]string
	defer explain(&got)
	eventually("the topic has the attributes that were set", func() bool {
		got = must(t.attributes())
		return includes(got, expected)
	})
}

func (t topic) deleteAndWait() {
	t.delete()
	eventually("the topic does not exist", func() bool {
		_, err := t.attributes()
		return isA[*types.NotFoundException](err)
	})
}

func (t topic) subscriptionAttributes(arn *string) (map[string]string, error) {
	response, err := t.sns.GetSubscriptionAttributes(background, &sns.GetSubscriptionAttributesInput{SubscriptionArn: arn})
	if err != nil {
		return nil, err
	}
	return response.Attributes, nil
}

func (t topic) waitForSubscription(arn *string, expected map[string]string) {
	var got map[string]string
	defer explain(&got)
	eventually("the subscription has the attributes that were set", func() bool {
		got = must(t.subscriptionAttributes(arn))
		return includes(got, expected)
	})
}
