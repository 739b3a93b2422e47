package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// mock is the admin API of the server: the clock, injected faults and recorded requests.
type mock struct {
	endpoint string
}

// next injects a fault into the next request of an action on a queue.
func (m mock) next(action string, q queue, effect string) {
	fault := map[string]any{"effect": effect, "actions": []string{action}, "queue": q.name, "times": 1}
	var result any
	m.call("POST", "faults", fault, &result)
}

// requests returns the number of requests of an action on a queue.
func (m mock) requests(action string, q queue) int {
	var result struct{ Requests []any }
	m.call("GET", fmt.Sprintf("requests?limit=1000&action=%s&queue=%s", action, q.name), nil, &result)
	return len(result.Requests)
}

// advance moves the clock of the server forward.
func (m mock) advance(seconds int) {
	var result any
	m.call("POST", "clock", map[string]int{"advance": seconds}, &result)
}

func (m mock) call(method, path string, content, result any) {
	body := must(json.Marshal(content))
	request := must(http.NewRequest(method, m.endpoint+"/_mock/"+path, bytes.NewReader(body)))
	response := must(http.DefaultClient.Do(request))
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		fail("%s failed with status %s", path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(result); err != nil {
		fail("expected JSON from %s, got %v", path, err)
	}
}
