package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// mock is what the server offers over HTTP besides SQS: failures on demand, and the record of requests.
type mock struct {
	endpoint string
}

// next lets the next call of an action on a queue go wrong.
func (m mock) next(action string, q queue, effect string) {
	fault := map[string]any{"effect": effect, "actions": []string{action}, "queue": q.name, "times": 1}
	var answer any
	m.call("POST", "faults", fault, &answer)
}

// requests says how many requests of an action a queue has had.
func (m mock) requests(action string, q queue) int {
	var answer struct{ Requests []any }
	m.call("GET", fmt.Sprintf("requests?limit=1000&action=%s&queue=%s", action, q.name), nil, &answer)
	return len(answer.Requests)
}

func (m mock) call(method, path string, content, answer any) {
	body := must(json.Marshal(content))
	request := must(http.NewRequest(method, m.endpoint+"/_mock/"+path, bytes.NewReader(body)))
	response := must(http.DefaultClient.Do(request))
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		fail("expected %s to work, got %s", path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		fail("expected JSON from %s, got %v", path, err)
	}
}
