package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func identity(t tour, _ bool) {
	caller := must(t.sts.GetCallerIdentity(background, &sts.GetCallerIdentityInput{}))
	expected := [3]string{"000000000000", "000000000000", "arn:aws:iam::000000000000:root"}
	equal(expected, [3]string{*caller.Account, *caller.UserId, *caller.Arn})
}

func topicNames(t tour, fifo bool) {
	made := must(tryMakeTopic(t.sns, "names", fifo, map[string]string{"DisplayName": "Names"}))
	equal("arn:aws:sns:us-east-1:000000000000:"+made.name, *made.arn)
	equal(*made.arn, *makeTopic(t.sns, "names", fifo).arn)
	found := false
	for pages := sns.NewListTopicsPaginator(t.sns, &sns.ListTopicsInput{}); pages.HasMorePages(); {
		for _, listed := range must(pages.NextPage(background)).Topics {
			found = found || *listed.TopicArn == *made.arn
		}
	}
	equal(true, found)
	_, err := tryMakeTopic(t.sns, "names", fifo, map[string]string{"DisplayName": "Other"})
	invalid("Attributes Reason: Topic already exists with different attributes", err)
	_, err = tryMakeTopic(t.sns, "no spaces", fifo, nil)
	invalid("Topic Name", err)
	made.delete()
	made.delete()
	equal(*made.arn, *makeTopic(t.sns, "names", fifo).arn)
}

func topicAttributes(t tour, fifo bool) {
	made := makeTopic(t.sns, "attributes", fifo)
	equal(nil, made.set("DisplayName", aws.String("é & <b>")))
	attributes := must(made.attributes())
	expected := [2]any{8, ""}
	if fifo {
		expected = [2]any{10, "true"}
	}
	equal(expected, [2]any{len(attributes), attributes["FifoTopic"]})
	equal("é & <b>", attributes["DisplayName"])
	invalid("AttributeName", made.set("Colour", aws.String("red")))
	tags := []types.Tag{tag("team", "a & b"), tag("stage", "")}
	must(t.sns.TagResource(background, &sns.TagResourceInput{ResourceArn: made.arn, Tags: tags}))
	must(t.sns.UntagResource(background, &sns.UntagResourceInput{ResourceArn: made.arn, TagKeys: []string{"team"}}))
	equal(map[string]string{"stage": ""}, made.tags())
	nowhere := &sns.ListTagsForResourceInput{ResourceArn: aws.String(*made.arn + "-nowhere")}
	_, err := t.sns.ListTagsForResource(background, nowhere)
	refused[*types.ResourceNotFoundException]("ResourceNotFound", 404, "Resource does not exist", err)
}

func subscriptions(t tour, fifo bool) {
	made := makeTopic(t.sns, "subscriptions", fifo)
	arn := made.makeTarget(t, "subscribed").arn()
	first := made.subscribe(arn, raw)
	equal(*first, *made.subscribe(arn, nil))
	for number := range 99 {
		made.subscribe(fmt.Sprint(arn, "-nowhere-", number), nil)
	}
	expected := []int{100}
	if _, err := made.trySubscribe(arn+"-nowhere", nil); fifo {
		rejectedAs[*types.SubscriptionLimitExceededException]("SubscriptionLimitExceeded", 403, err)
	} else {
		equal(nil, err)
		expected = append(expected, 1)
	}
	sizes, request := []int{}, &sns.ListSubscriptionsByTopicInput{TopicArn: made.arn}
	for pages := sns.NewListSubscriptionsByTopicPaginator(t.sns, request); pages.HasMorePages(); {
		page := must(pages.NextPage(background)).Subscriptions
		sizes = append(sizes, len(page))
		for _, listed := range page {
			equal([3]string{"sqs", *made.arn, "000000000000"}, [3]string{*listed.Protocol, *listed.TopicArn, *listed.Owner})
		}
	}
	equal(expected, sizes)
	get := &sns.GetSubscriptionAttributesInput{SubscriptionArn: first}
	attributes := must(t.sns.GetSubscriptionAttributes(background, get)).Attributes
	equal([3]string{arn, "true", "false"}, [3]string{
		attributes["Endpoint"], attributes["RawMessageDelivery"], attributes["PendingConfirmation"],
	})
	for range 2 {
		must(t.sns.Unsubscribe(background, &sns.UnsubscribeInput{SubscriptionArn: first}))
	}
	_, err := t.sns.GetSubscriptionAttributes(background, get)
	refused[*types.NotFoundException]("NotFound", 404, "Subscription does not exist", err)
}

func subscriptionRejections(t tour, fifo bool) {
	made := makeTopic(t.sns, "subscription-rejections", fifo)
	arn := made.makeTarget(t, "rejected").arn()
	err := func(attributes map[string]string) error {
		_, err := made.trySubscribe(arn, attributes)
		return err
	}
	reasons := map[string]string{
		`{"kind":"tea"}`:                        `"kind" must be an object or an array`,
		`{"kind":[]}`:                           "Empty arrays are not allowed",
		`{"kind":[{"like":"t"}]}`:               "Unrecognized match type like",
		`{"price":[{"numeric":[">",3,"<",1]}]}`: "Bottom must be less than top",
	}
	for policy, reason := range reasons {
		invalid("Attributes Reason: FilterPolicy: "+reason, err(map[string]string{"FilterPolicy": policy}))
	}
	invalid("Attributes Reason: RawMessageDelivery: Invalid value [yes]. Must be true or false.",
		err(map[string]string{"RawMessageDelivery": "yes"}))
	invalid("Attributes Reason: RedrivePolicy: deadLetterTargetArn is an invalid arn",
		err(map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"dead"}`}))
	equal(nil, err(nil))
	invalid("Attributes Reason: Subscription already exists with different attributes", err(raw))
	_, failure := made.trySubscribe("queue", nil)
	invalid("SQS endpoint ARN", failure)
	if !fifo {
		_, failure = made.trySubscribe(arn+".fifo", nil)
		invalid("Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics", failure)
	}
}

func publishRejections(t tour, fifo bool) {
	made := makeTopic(t.sns, "publish-rejections", fifo)
	invalid("Empty message", made.tryPublish(made.message("")))
	invalid("Message too long", made.tryPublish(made.message(strings.Repeat("x", 262_145))))
	empty := made.message("x")
	value := types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("")}
	empty.MessageAttributes = map[string]types.MessageAttributeValue{"a": value}
	refused[*types.InvalidParameterValueException]("ParameterValueInvalid", 400,
		"The message attribute 'a' must contain non-empty message attribute value", made.tryPublish(empty))
	alone := made.message("x")
	text := "The MessageGroupId parameter is required for FIFO topics"
	alone.MessageGroupId = nil
	if !fifo {
		alone.MessageDeduplicationId = aws.String("once")
		text = "MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid"
	}
	invalid(text, made.tryPublish(alone))
	err := func(ids string) error {
		entries := []types.PublishBatchRequestEntry{}
		for _, id := range ids {
			message := made.message("x")
			entries = append(entries, types.PublishBatchRequestEntry{
				Id: aws.String(string(id)), Message: message.Message, MessageGroupId: message.MessageGroupId,
			})
		}
		_, err := made.tryBatch(entries)
		return err
	}
	rejectedAs[*types.TooManyEntriesInBatchRequestException]("TooManyEntriesInBatchRequest", 400, err("abcdefghijk"))
	rejectedAs[*types.BatchEntryIdsNotDistinctException]("BatchEntryIdsNotDistinct", 400, err("aa"))
	rejectedAs[*types.InvalidBatchEntryIdException]("InvalidBatchEntryId", 400, err("a."))
	rejectedAs[*types.EmptyBatchRequestException]("EmptyBatchRequest", 400, err(""))
}

func missingTopics(t tour, fifo bool) {
	missing := makeTopic(t.sns, "missing", fifo)
	missing.delete()
	_, attributes := missing.attributes()
	entry := types.PublishBatchRequestEntry{Id: aws.String("a"), Message: aws.String("x"), MessageGroupId: aws.String("g")}
	_, batch := missing.tryBatch([]types.PublishBatchRequestEntry{entry})
	_, subscribe := missing.trySubscribe("arn:aws:sqs:us-east-1:000000000000:go-missing", nil)
	for _, err := range []error{attributes, batch, subscribe, missing.tryPublish(missing.message("x"))} {
		refused[*types.NotFoundException]("NotFound", 404, "Topic does not exist", err)
	}
}

func invalid(text string, err error) {
	refused[*types.InvalidParameterException]("InvalidParameter", 400, "Invalid parameter: "+text, err)
}
