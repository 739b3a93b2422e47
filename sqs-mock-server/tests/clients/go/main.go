// Tests the server with the AWS SDK for Go: `tour ENDPOINT`.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// tour has the clients of the steps: one without retries, one with up to three attempts, and the admin API.
type tour struct {
	sqs, retrying *sqs.Client
	mock          mock
}

var standard, fifo, both = []bool{false}, []bool{true}, []bool{false, true}

var steps = []struct {
	what  string
	types []bool
	run   func(tour, bool)
}{
	{"queues", both, names},
	{"pagination of queues", standard, pages},
	{"attributes of queues", both, attributes},
	{"tags and permissions", both, tags},
	{"purges", both, purges},
	{"messages with every attribute", both, everyAttribute},
	{"visibility and deletes", both, visibility},
	{"rejected messages", both, rejections},
	{"long polls", both, longPolls},
	{"batches", both, entries},
	{"rejected batches", both, batchRejections},
	{"order of groups", fifo, order},
	{"deduplication", fifo, deduplication},
	{"dead letters", both, moveToDeadLetters},
	{"moved messages", both, moves},
	{"cancelled move", both, cancelledMove},
	{"wrong checksums", both, checksums},
	{"throttling and lost responses", both, throttling},
}

func main() {
	endpoint := os.Args[1]
	t := tour{sqs: client(endpoint, 1), retrying: client(endpoint, 3), mock: mock{endpoint}}
	for _, step := range steps {
		for _, fifo := range step.types {
			step.run(t, fifo)
		}
		fmt.Printf("ok: aws-sdk-go-v2 sqs %s: %s\n", version(), step.what)
	}
}

func client(endpoint string, attempts int) *sqs.Client {
	return sqs.New(sqs.Options{
		BaseEndpoint:     &endpoint,
		Region:           "us-east-1",
		Credentials:      aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("test", "test", "")),
		RetryMaxAttempts: attempts,
	})
}

func version() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "github.com/aws/aws-sdk-go-v2/service/sqs" {
				return module.Version
			}
		}
	}
	return "of unknown version"
}
