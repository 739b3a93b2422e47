package main

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// fail ends the tour. main prints the reason.
func fail(format string, arguments ...any) {
	panic(fmt.Sprintf(format, arguments...))
}

func equal(expected, got any) {
	if !reflect.DeepEqual(expected, got) {
		fail("expected %+v, got %+v", expected, got)
	}
}

func only[T any](things []T) T {
	if len(things) != 1 {
		fail("expected one element, got %+v", things)
	}
	return things[0]
}

// must returns the response of a call that must succeed.
func must[T any](response T, err error) T {
	if err != nil {
		fail("expected a response, got %v", err)
	}
	return response
}

// rejected asserts an error with this code of the Query protocol and this status.
func rejected(code string, status int, err error) {
	var failure smithy.APIError
	var response *awshttp.ResponseError
	if !errors.As(err, &failure) || !errors.As(err, &response) {
		fail("expected %s, got %v", code, err)
	}
	if failure.ErrorCode() != code || response.HTTPStatusCode() != status || response.ServiceRequestID() == "" {
		fail("expected %s with %d, got %v", code, status, err)
	}
}

// rejectedAs also asserts the error type of the SDK.
func rejectedAs[E error](code string, status int, err error) {
	if !isA[E](err) {
		fail("expected an error of type %s, got %v", code, err)
	}
	rejected(code, status, err)
}

// refused also asserts the start of the text.
func refused[E smithy.APIError](code string, status int, text string, err error) {
	rejectedAs[E](code, status, err)
	var failure smithy.APIError
	if errors.As(err, &failure) && !strings.HasPrefix(failure.ErrorMessage(), text) {
		fail("expected %q, got %q", text, failure.ErrorMessage())
	}
}

func isA[E error](err error) bool {
	var typed E
	return errors.As(err, &typed)
}

// eventually waits for background work of the server: it repeats the condition until it is true.
func eventually(what string, condition func() bool) {
	for range 500 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	fail("timeout: expected that %s", what)
}

// sameJSON returns whether two texts have the same JSON value.
func sameJSON(one, other string) bool {
	var values [2]any
	return json.Unmarshal([]byte(one), &values[0]) == nil && json.Unmarshal([]byte(other), &values[1]) == nil &&
		reflect.DeepEqual(values[0], values[1])
}

// checksum returns the MD5 digest of message attributes. The client does not verify it.
func checksum(attributes map[string]types.MessageAttributeValue) string {
	hash := md5.New()
	part := func(bytes []byte) {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(bytes))))
		hash.Write(bytes)
	}
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := attributes[name]
		part([]byte(name))
		part([]byte(aws.ToString(value.DataType)))
		if value.BinaryValue != nil {
			hash.Write([]byte{2})
			part(value.BinaryValue)
		} else {
			hash.Write([]byte{1})
			part([]byte(aws.ToString(value.StringValue)))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}
