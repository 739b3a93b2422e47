package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const prefix = "AWS.SimpleQueueService."

func names(t tour, fifo bool) {
	q := makeQueue(t.sqs, "names", fifo, map[string]string{"VisibilityTimeout": "30"})
	equal(*q.url, *makeQueue(t.sqs, "names", fifo, nil).url)
	get := &sqs.GetQueueUrlInput{QueueName: &q.name}
	equal(*q.url, *must(t.sqs.GetQueueUrl(background, get)).QueueUrl)
	listed := must(t.sqs.ListQueues(background, &sqs.ListQueuesInput{QueueNamePrefix: &q.name}))
	equal([]string{*q.url}, listed.QueueUrls)
	_, err := tryMake(t.sqs, "names", fifo, map[string]string{"VisibilityTimeout": "31"})
	rejectedAs[*types.QueueNameExists]("QueueAlreadyExists", 400, err)
	_, err = tryMake(t.sqs, "no spaces", fifo, nil)
	rejected("InvalidParameterValue", 400, err)
	must(t.sqs.DeleteQueue(background, &sqs.DeleteQueueInput{QueueUrl: q.url}))
	rejectedAs[*types.QueueDoesNotExist](prefix+"NonExistentQueue", 400, q.trySend(q.message("x")))
	_, err = t.sqs.GetQueueUrl(background, get)
	rejectedAs[*types.QueueDoesNotExist](prefix+"NonExistentQueue", 400, err)
	_, err = tryMake(t.sqs, "names", fifo, nil)
	rejectedAs[*types.QueueDeletedRecently](prefix+"QueueDeletedRecently", 400, err)
}

func pages(t tour, _ bool) {
	var expected, urls []string
	var sizes []int
	for number := range 5 {
		expected = append(expected, *makeQueue(t.sqs, fmt.Sprint("page-", number), false, nil).url)
	}
	request := &sqs.ListQueuesInput{QueueNamePrefix: aws.String("go-page-"), MaxResults: aws.Int32(2)}
	for pages := sqs.NewListQueuesPaginator(t.sqs, request); pages.HasMorePages(); {
		page := must(pages.NextPage(background))
		urls, sizes = append(urls, page.QueueUrls...), append(sizes, len(page.QueueUrls))
	}
	equal([]int{2, 2, 1}, sizes)
	equal(expected, urls)
	nothing := must(t.sqs.ListQueues(background, &sqs.ListQueuesInput{QueueNamePrefix: aws.String("go-nothing")}))
	equal(0, len(nothing.QueueUrls))
}

func attributes(t tour, fifo bool) {
	q := makeQueue(t.sqs, "attributes", fifo, nil)
	set := &sqs.SetQueueAttributesInput{
		QueueUrl: q.url, Attributes: map[string]string{"VisibilityTimeout": "61", "DelaySeconds": "0"},
	}
	must(t.sqs.SetQueueAttributes(background, set))
	all := must(q.attributes(types.QueueAttributeNameAll))
	number, scope := 12, ""
	if fifo {
		number, scope = 16, "queue"
	}
	equal(number, len(all))
	equal("61", all["VisibilityTimeout"])
	equal(scope, all["DeduplicationScope"])
	equal("arn:aws:sqs:us-east-1:000000000000:"+q.name, all["QueueArn"])
	equal(0, len(must(q.attributes(types.QueueAttributeNamePolicy))))
	_, err := q.attributes("Hue")
	rejectedAs[*types.InvalidAttributeName]("InvalidAttributeName", 400, err)
	set.Attributes["VisibilityTimeout"] = "-1"
	_, err = t.sqs.SetQueueAttributes(background, set)
	rejectedAs[*types.InvalidAttributeValue]("InvalidAttributeValue", 400, err)
}

func tags(t tour, fifo bool) {
	q := makeQueue(t.sqs, "tags", fifo, nil)
	team := map[string]string{"team": "a & b"}
	create := &sqs.CreateQueueInput{QueueName: aws.String("go-tagged"), Tags: team}
	tagged := &sqs.ListQueueTagsInput{QueueUrl: must(t.sqs.CreateQueue(background, create)).QueueUrl}
	equal(team, must(t.sqs.ListQueueTags(background, tagged)).Tags)
	given := map[string]string{"team": "a & b", "stage": "", "owner": "é"}
	must(t.sqs.TagQueue(background, &sqs.TagQueueInput{QueueUrl: q.url, Tags: given}))
	must(t.sqs.UntagQueue(background, &sqs.UntagQueueInput{QueueUrl: q.url, TagKeys: []string{"team"}}))
	left := must(t.sqs.ListQueueTags(background, &sqs.ListQueueTagsInput{QueueUrl: q.url}))
	equal(map[string]string{"stage": "", "owner": "é"}, left.Tags)
	reader := &sqs.AddPermissionInput{
		QueueUrl: q.url, Label: aws.String("reader"), AWSAccountIds: []string{"123456789012"},
		Actions: []string{"ReceiveMessage"},
	}
	must(t.sqs.AddPermission(background, reader))
	policy := must(q.attributes(types.QueueAttributeNamePolicy))["Policy"]
	if !strings.Contains(policy, `"SQS:ReceiveMessage"`) {
		fail("expected a policy with the action, got %s", policy)
	}
	reader.Label, reader.Actions = aws.String("many"), []string{
		"SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueUrl",
		"GetQueueAttributes", "ListDeadLetterSourceQueues", "PurgeQueue",
	}
	_, err := t.sqs.AddPermission(background, reader)
	rejectedAs[*types.OverLimit]("OverLimit", 403, err)
	remove := &sqs.RemovePermissionInput{QueueUrl: q.url, Label: aws.String("reader")}
	must(t.sqs.RemovePermission(background, remove))
	equal(0, len(must(q.attributes(types.QueueAttributeNamePolicy))))
}

func purges(t tour, fifo bool) {
	q := makeQueue(t.sqs, "purges", fifo, nil)
	q.send(q.message("1"))
	purge := &sqs.PurgeQueueInput{QueueUrl: q.url}
	must(t.sqs.PurgeQueue(background, purge))
	equal([]string{}, q.bodies())
	_, err := t.sqs.PurgeQueue(background, purge)
	rejectedAs[*types.PurgeQueueInProgress](prefix+"PurgeQueueInProgress", 403, err)
}
