package main

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// allow is the policy that SNS and S3 need to send to a queue.
const allow = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:SendMessage","Resource":"*",` +
	`"Principal":{"Service":["sns.amazonaws.com","s3.amazonaws.com"]}}}`

var raw = map[string]string{"RawMessageDelivery": "true"}

// topic is a new topic for a step: standard, or FIFO with content-based deduplication.
type topic struct {
	sns  *sns.Client
	name string
	fifo bool
	arn  *string
}

func tryMakeTopic(client *sns.Client, name string, fifo bool, attributes map[string]string) (topic, error) {
	made := topic{sns: client, name: "go-" + name, fifo: fifo}
	all := map[string]string{}
	if fifo {
		made.name += ".fifo"
		all["FifoTopic"], all["ContentBasedDeduplication"] = "true", "true"
	}
	for name, value := range attributes {
		all[name] = value
	}
	response, err := client.CreateTopic(background, &sns.CreateTopicInput{Name: &made.name, Attributes: all})
	if err == nil {
		made.arn = response.TopicArn
	}
	return made, err
}

func makeTopic(client *sns.Client, name string, fifo bool) topic {
	return must(tryMakeTopic(client, name, fifo, nil))
}

// makeTarget makes a queue of the type of the topic, to which SNS may send.
func (t topic) makeTarget(tour tour, name string) queue {
	return makeQueue(tour.sqs, name, t.fifo, map[string]string{"Policy": allow})
}

func (t topic) trySubscribe(endpoint string, attributes map[string]string) (*string, error) {
	response, err := t.sns.Subscribe(background, &sns.SubscribeInput{
		TopicArn: t.arn, Protocol: aws.String("sqs"), Endpoint: &endpoint, Attributes: attributes,
	})
	if err != nil {
		return nil, err
	}
	return response.SubscriptionArn, nil
}

func (t topic) subscribe(endpoint string, attributes map[string]string) *string {
	return must(t.trySubscribe(endpoint, attributes))
}

// message returns a request to publish to this topic.
func (t topic) message(text string) *sns.PublishInput {
	request := &sns.PublishInput{TopicArn: t.arn, Message: &text}
	if t.fifo {
		request.MessageGroupId = aws.String("g")
	}
	return request
}

func (t topic) tryPublish(request *sns.PublishInput) error {
	_, err := t.sns.Publish(background, request)
	return err
}

func (t topic) publish(request *sns.PublishInput) *sns.PublishOutput {
	return must(t.sns.Publish(background, request))
}

func (t topic) tryBatch(entries []types.PublishBatchRequestEntry) (*sns.PublishBatchOutput, error) {
	return t.sns.PublishBatch(background, &sns.PublishBatchInput{TopicArn: t.arn, PublishBatchRequestEntries: entries})
}

// attributes returns the attributes of the topic.
func (t topic) attributes() (map[string]string, error) {
	response, err := t.sns.GetTopicAttributes(background, &sns.GetTopicAttributesInput{TopicArn: t.arn})
	if err != nil {
		return nil, err
	}
	return response.Attributes, nil
}

func (t topic) set(name string, value *string) error {
	_, err := t.sns.SetTopicAttributes(background, &sns.SetTopicAttributesInput{
		TopicArn: t.arn, AttributeName: &name, AttributeValue: value,
	})
	return err
}

func tag(key, value string) types.Tag {
	return types.Tag{Key: &key, Value: &value}
}

func (t topic) tags() map[string]string {
	response := must(t.sns.ListTagsForResource(background, &sns.ListTagsForResourceInput{ResourceArn: t.arn}))
	tags := map[string]string{}
	for _, tag := range response.Tags {
		tags[*tag.Key] = *tag.Value
	}
	return tags
}

func (t topic) delete() {
	must(t.sns.DeleteTopic(background, &sns.DeleteTopicInput{TopicArn: t.arn}))
}

// forTopic returns message attributes of a queue as SNS takes them.
func forTopic(attributes map[string]sqstypes.MessageAttributeValue) map[string]types.MessageAttributeValue {
	converted := map[string]types.MessageAttributeValue{}
	for name, value := range attributes {
		converted[name] = types.MessageAttributeValue{
			DataType: value.DataType, StringValue: value.StringValue, BinaryValue: value.BinaryValue,
		}
	}
	return converted
}

// envelope is the body of a message from a topic without raw delivery.
type envelope struct {
	Type, MessageId, SequenceNumber, TopicArn, Subject, Message, Timestamp string
	SignatureVersion, Signature, SigningCertURL, UnsubscribeURL            string
	MessageAttributes                                                      map[string]struct{ Type, Value string }
}

func open(message sqstypes.Message) envelope {
	var opened envelope
	decoder := json.NewDecoder(strings.NewReader(*message.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&opened); err != nil {
		fail("expected an envelope, got %s: %v", *message.Body, err)
	}
	return opened
}
