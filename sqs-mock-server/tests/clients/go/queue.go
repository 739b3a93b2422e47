package main

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

var background = context.Background()

// every contains attributes of every type, with custom labels.
var every = map[string]types.MessageAttributeValue{
	"text":   text("String", `Zürich <&> "€"`),
	"note":   text("String.note", "𝄞"),
	"number": text("Number", "-1.50e3"),
	"count":  text("Number.int", "42"),
	"bytes":  {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 2, 254, 255}},
	"image":  {DataType: aws.String("Binary.png"), BinaryValue: []byte{137, 80, 78, 71}},
}

func text(label, value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: &label, StringValue: &value}
}

// queue is a new queue for a step: standard, or FIFO with content-based deduplication.
type queue struct {
	sqs  *sqs.Client
	name string
	fifo bool
	url  *string
}

func tryMake(client *sqs.Client, name string, fifo bool, attributes map[string]string) (queue, error) {
	made := queue{sqs: client, name: "go-" + name, fifo: fifo}
	all := maps.Clone(attributes)
	if fifo {
		made.name += ".fifo"
		if all == nil {
			all = map[string]string{}
		}
		all["FifoQueue"], all["ContentBasedDeduplication"] = "true", "true"
	}
	response, err := client.CreateQueue(background, &sqs.CreateQueueInput{QueueName: &made.name, Attributes: all})
	if err == nil {
		made.url = response.QueueUrl
	}
	return made, err
}

func makeQueue(client *sqs.Client, name string, fifo bool, attributes map[string]string) queue {
	return must(tryMake(client, name, fifo, attributes))
}

// group returns the message group, or nil if the queue is not FIFO.
func (q queue) group() *string {
	if q.fifo {
		return aws.String("g")
	}
	return nil
}

// message returns a send request for this queue.
func (q queue) message(body string) *sqs.SendMessageInput {
	return &sqs.SendMessageInput{QueueUrl: q.url, MessageBody: &body, MessageGroupId: q.group()}
}

func (q queue) trySend(message *sqs.SendMessageInput) error {
	_, err := q.sqs.SendMessage(background, message)
	return err
}

func (q queue) send(message *sqs.SendMessageInput) *sqs.SendMessageOutput {
	sent := must(q.sqs.SendMessage(background, message))
	if message.MessageAttributes != nil {
		equal(checksum(message.MessageAttributes), *sent.MD5OfMessageAttributes)
	}
	return sent
}

// everything returns a receive request for all attributes.
func (q queue) everything() *sqs.ReceiveMessageInput {
	return &sqs.ReceiveMessageInput{
		QueueUrl: q.url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
}

func (q queue) receive(request *sqs.ReceiveMessageInput) []types.Message {
	messages := must(q.sqs.ReceiveMessage(background, request)).Messages
	for _, message := range messages {
		if message.MessageAttributes != nil {
			equal(checksum(message.MessageAttributes), *message.MD5OfMessageAttributes)
		}
	}
	return messages
}

func (q queue) bodies() []string {
	return bodiesOf(q.receive(q.everything()))
}

func bodiesOf(messages []types.Message) []string {
	bodies := []string{}
	for _, message := range messages {
		bodies = append(bodies, *message.Body)
	}
	return bodies
}

func (q queue) delete(handle *string) error {
	_, err := q.sqs.DeleteMessage(background, &sqs.DeleteMessageInput{QueueUrl: q.url, ReceiptHandle: handle})
	return err
}

// release makes a message visible.
func (q queue) release(handle *string) error {
	_, err := q.sqs.ChangeMessageVisibility(background, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: q.url, ReceiptHandle: handle, VisibilityTimeout: 0,
	})
	return err
}

func (q queue) attributes(names ...types.QueueAttributeName) (map[string]string, error) {
	request := &sqs.GetQueueAttributesInput{QueueUrl: q.url, AttributeNames: names}
	response, err := q.sqs.GetQueueAttributes(background, request)
	if err != nil {
		return nil, err
	}
	return response.Attributes, nil
}

func (q queue) arn() string {
	return must(q.attributes(types.QueueAttributeNameQueueArn))["QueueArn"]
}

// counts returns the numbers of visible and in-flight messages.
func (q queue) counts() [2]string {
	all := must(q.attributes(types.QueueAttributeNameAll))
	return [2]string{all["ApproximateNumberOfMessages"], all["ApproximateNumberOfMessagesNotVisible"]}
}
