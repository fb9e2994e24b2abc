package formattest

import (
	"encoding/json"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"locksim/scenarios/file"
)

// asJSON is a scenario file as the JSON that an editor validates.
func asJSON(t *testing.T, source []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(source, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, b)
}

// Every scenario of the library is valid by the schema of scenarios.
func TestTheLibraryIsValid(t *testing.T) {
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	s := compiled(t, "scenario")
	for _, sc := range all {
		if err := s.Validate(asJSON(t, sc.Source)); err != nil {
			t.Errorf("%s: %v", sc.Name, err)
		}
	}
}

// The schema and the parser agree about these files: both accept the first ones, and refuse
// the others, of which each has one mistake.
func TestScenarioMistakes(t *testing.T) {
	s := compiled(t, "scenario")
	for _, text := range []string{
		"name: x",
		"name: x\nworld: {redis: 3, clients: 16, latency: 0s..1.5ms, etcd: 3, replicas: 2, lag: 5ms, persistence: rdb, " +
			"snapshot: 1h30m, skew: .5s}",
		"name: x\nworkload: {kind: transfer, deadline: true, request: 3s, resources: [order, invoice], checks_until: steps}",
		"name: x\nworkload: {section: [read: stock, work: 2s, work, check, write: stock]}",
		"name: x\nfaults: [{when: {client: c0, event: read, nth: 1}, after: 5ms, pause: {process: c0, for: 15s}}]",
		"name: x\nfaults: [{at: 3s, clock_jump: {clock: c0, by: -2s}}]",
		"name: x\nexpect: {all: {none: corrupted, seal: rescued}}",
	} {
		judge(t, s, text, true)
	}
	for _, text := range []string{
		"title: without a name",
		"name: Upper",
		"name: x\ncolour: red",
		"name: x\nworld: {clients: 65}",
		"name: x\nworld: {clients: two}",
		"name: x\nworld: {clinets: 2}",
		"name: x\nlock: {ttl: 10}",
		"name: x\nlock: {ttl: 10 seconds}",
		"name: x\nlock: {backoff: 1ms-5ms}",
		"name: x\nlock: {client: loud}",
		"name: x\nworkload: {deadline: maybe}",
		"name: x\nworkload: {resources: []}",
		"name: x\nworkload: {section: [read]}",
		"name: x\nworkload: {section: [sleep: 1s]}",
		"name: x\nfaults: [{at: 3s}]",
		"name: x\nfaults: [{pause: {process: c0, for: 15s}}]",
		"name: x\nfaults: [{at: 3s, pause: {process: c0, for: 15s}, crash: {process: c1}}]",
		"name: x\nfaults: [{at: 3s, when: {client: c0, event: read}, pause: {process: c0, for: 15s}}]",
		"name: x\nfaults: [{at: 3s, pause: {process: c0}}]",
		"name: x\nfaults: [{at: 3s, pause: {process: c0, for: 15s, by: 3s}}]",
		"name: x\nfaults: [{when: {client: c0}, pause: {process: c0, for: 15s}}]",
		"name: x\nexpect: {all: {off: safe}}",
		"name: x\nexpect: {all: {none: fine}}",
	} {
		judge(t, s, text, false)
	}
}

// judge checks that the schema and the parser both accept a text, or both refuse it.
func judge(t *testing.T, s *jsonschema.Schema, text string, valid bool) {
	t.Helper()
	if err := s.Validate(asJSON(t, []byte(text))); (err == nil) != valid {
		t.Errorf("%s\nvalid is %v, the schema says: %v", text, valid, err)
	}
	if _, err := file.Parse("x.yaml", []byte(text)); (err == nil) != valid {
		t.Errorf("%s\nvalid is %v, the parser says: %v", text, valid, err)
	}
}
