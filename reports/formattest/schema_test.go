package formattest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"locksim/cmd/locksim/app"
	"locksim/reports"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
)

// kept is what several tests look at, by what it is: it takes a second to make. A test that changes it has a copy.
var kept = map[string]any{}

// once makes something for the first test that asks for it. The tests run one after another.
func once[T any](what string, made func() T) T {
	v, ok := kept[what].(T)
	if !ok {
		v = made()
		kept[what] = v
	}
	return v
}

// compiled is a schema, which compiling checks against the meta-schema.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	return once("schema "+name, func() *jsonschema.Schema { return compile(t, name) })
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	b, err := reports.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, parsed(t, b)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parsed(t *testing.T, b []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func runDocument(t *testing.T, o *outcome.Outcome) []byte {
	t.Helper()
	b, err := outcome.NewRunFile(o).JSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func matrixDocument(t *testing.T) []byte {
	t.Helper()
	return once("matrix", func() []byte { return document(t, aMatrix(t)) })
}

// listDocument is the output of list --json, with a lock that promises nothing.
func listDocument(t *testing.T) []byte {
	t.Helper()
	l, err := app.NewList(subject.Lock{Name: "mylock"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRunsAreValid(t *testing.T) {
	s := compiled(t, "run")
	for _, tt := range []struct {
		scenario, lock string
		seed           uint64
	}{
		{"calm", "single", 1},
		{"gc-pause", "fenced", 1},
		{"gc-pause", "single", 1<<64 - 1},
		{"redlock-clock-jump", "redlock", 2},
		{"torn-by-crash", "fenced", 3},
		{"gc-pause", "broken/del-without-owner", 1},
	} {
		t.Run(fmt.Sprintf("%s %s %d", tt.scenario, strings.ReplaceAll(tt.lock, "/", " "), tt.seed), func(t *testing.T) {
			b := runDocument(t, played(t, tt.scenario, tt.lock, tt.seed))
			if err := s.Validate(parsed(t, b)); err != nil {
				t.Errorf("%v\n%s", err, b)
			}
		})
	}
}

func TestMatrixIsValid(t *testing.T) {
	if err := compiled(t, "matrix").Validate(parsed(t, matrixDocument(t))); err != nil {
		t.Error(err)
	}
}

func TestListIsValid(t *testing.T) {
	if err := compiled(t, "list").Validate(parsed(t, listDocument(t))); err != nil {
		t.Error(err)
	}
}

// mayBeAbsent are the fields that a document may lack, and the maps whose entries it
// may lack.
var mayBeAbsent = []string{"expected", "modules", "vacuous", "replay", "catalogue", "slowest", "faults_never_fired",
	"free_after", "order", "returns_within", "tokens_unordered", "resend_excludes", "slack", "nearest",
	"modes.*", "labels.*", "wall_seconds.*", "modules.*"}

// The schema refuses a document with a field removed, set to null, or added.
func TestBrokenDocumentsAreRefused(t *testing.T) {
	never := func(string) bool { return false }
	breakApart(t, "run", runDocument(t, played(t, "gc-pause", "single", 1)), 100, mayMiss, never)
	breakApart(t, "matrix", matrixDocument(t), 100, mayMiss, never)
	breakApart(t, "list", listDocument(t), 100, func(path, key string, _ map[string]any) bool {
		if field := regexp.MustCompile(`^/faults/[0-9]+/fields/|^/commands/`); field.MatchString(path) &&
			slices.Contains([]string{"default", "words", "unit", "least", "most", "value"}, key) {
			return true
		}
		return key == "catalogue" || key == "for_whom" || strings.Contains(path, "/promise") && mayMiss(path, key, nil) ||
			strings.HasPrefix(path, "/failure_modes/") && (key == "scenarios" || key == "missing")
	}, regexp.MustCompile(`^/locks/[0-9]+/promise/(exclusion|duties)$`).MatchString)
}

// breakApart removes each field from a valid document, sets each to null, and adds a
// field to each object. It checks that the schema refuses each change, except where a
// field may be absent or null, and that there are at least so many changes.
func breakApart(t *testing.T, name string, doc []byte, least int,
	mayMiss func(path, key string, object map[string]any) bool, mayBeNull func(path string) bool) {
	t.Helper()
	s, whole, breaks := compiled(t, name), parsed(t, doc), 0
	visit(whole, "", func(path string, object map[string]any) {
		for key, value := range object {
			at, absent := path+"/"+key, mayMiss(path, key, object)
			delete(object, key)
			if err := s.Validate(whole); (err == nil) != absent {
				t.Errorf("%s without %s: %v", name, at, err)
			}
			object[key] = nil
			if err := s.Validate(whole); (err == nil) != mayBeNull(at) {
				t.Errorf("%s with null at %s: %v", name, at, err)
			}
			object[key] = value
			breaks += 2
		}
		object["surprise"] = true
		if s.Validate(whole) == nil {
			t.Errorf("%s with a surprise at %s is valid", name, path)
		}
		delete(object, "surprise")
		breaks++
	})
	if err := s.Validate(whole); err != nil || breaks < least {
		t.Errorf("%s: %d changes; restored, its validation gives %v", name, breaks, err)
	}
}

// mayMiss reports whether an object may lack a key. A gap may lack the command that
// replays it, and a cell with runs may not; the vacuous cells of the totals are a
// number, which may not be absent.
func mayMiss(path, key string, object map[string]any) bool {
	parent := path[strings.LastIndex(path, "/")+1:]
	if parent == "free_after" {
		return true // it may be empty
	}
	if _, isCell := object["mode"]; isCell && key == "replay" || parent == "totals" {
		return false
	}
	if strings.Contains(path+"/", "/slack/") && (key == "other" || key == "at") {
		return true
	}
	return slices.Contains(mayBeAbsent, parent+".*") && len(object) > 1 || slices.Contains(mayBeAbsent, key)
}

// visit calls f with each object of a document, but of the elements of an array only
// with the first of each shape.
func visit(v any, path string, f func(path string, object map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(path, v)
		for key, inner := range v {
			visit(inner, path+"/"+key, f)
		}
	case []any:
		seen := map[string]bool{}
		for i, inner := range v {
			if s := shape(inner); !seen[s] {
				seen[s] = true
				visit(inner, fmt.Sprintf("%s/%d", path, i), f)
			}
		}
	}
}

// shape has the keys of a value and of those in it, and the types of the others.
func shape(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(key + ":" + shape(v[key]) + ",")
		}
		return "{" + b.String() + "}"
	case []any:
		var inner []string
		for _, e := range v {
			inner = append(inner, shape(e))
		}
		slices.Sort(inner)
		return "[" + strings.Join(slices.Compact(inner), ",") + "]"
	default:
		return fmt.Sprintf("%T", v)
	}
}

// Values that make no sense are refused.
func TestNonsenseIsRefused(t *testing.T) {
	docs := map[string]string{"run": string(runDocument(t, played(t, "gc-pause", "single", 1))),
		"matrix": string(matrixDocument(t)), "list": string(listDocument(t))}
	for _, tt := range []struct{ schema, old, wrong string }{
		{"run", `"version": 1`, `"version": 2`},
		{"run", `"seed": 1`, `"seed": -1`},
		{"run", `"seed": 1`, `"seed": 18446744073709551616`},
		{"run", `"seed": 1`, `"seed": 1.5`},
		{"run", `"seed": 1`, `"seed": "1"`},
		{"run", `"lock": "single"`, `"lock": ""`},
		{"run", `"verdict": "corrupted"`, `"verdict": "fine"`},
		{"run", `"verdict": "corrupted"`, `"verdict": "n/a"`},
		{"run", `"verdict": "n/a"`, `"verdict": "safe"`},
		{"run", `"none": {`, `"off": {`},
		{"run", `"data": "corrupted"`, `"data": "lost"`},
		{"run", `"trace_hash": "`, `"trace_hash": "X`},
		{"run", `"grants": `, `"grants": -`},
		{"run", `"pause": "whole"`, `"pause": ""`},
		{"run", `"virtual_seconds": `, `"virtual_seconds": -`},
		{"matrix", `"match": "worse"`, `"match": "bad"`},
		{"matrix", `"first": 1`, `"first": null`},
		{"matrix", `"seeds": 2`, `"seeds": 0`},
		{"matrix", `"digest": "`, `"digest": "0`},
		{"matrix", `"label": "n/a"`, `"label": "safe"`},
		{"matrix", `"workers": 1`, `"workers": -1`},
		{"list", `"tokens": true`, `"tokens": "true"`},
		{"list", `"nodes": 1`, `"nodes": 0`},
		{"list", `"id": "F17"`, `"id": "17"`},
		{"list", `"pause",`, `"bad luck",`},
		{"list", `"data": "seal"`, `"data": "luck"`},
		{"list", `"free_within": "ttl`, `"free_within": "day`},
	} {
		broken := strings.Replace(docs[tt.schema], tt.old, tt.wrong, 1)
		if broken == docs[tt.schema] {
			t.Errorf("there is no %s in the %s", tt.old, tt.schema)
			continue
		}
		if compiled(t, tt.schema).Validate(parsed(t, []byte(broken))) == nil {
			t.Errorf("a %s with %s is valid", tt.schema, tt.wrong)
		}
	}
}
