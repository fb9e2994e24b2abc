package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// PlanError is returned where results of one plan were expected, and there are
// those of another.
type PlanError struct {
	// File is where the other plan stands, Other the file that it is compared
	// with, or empty for what was asked for.
	File, Other string
	// Fields are what differs, such as "runs is 1000, and 2000 was asked for".
	Fields []string
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("%s has the results of another plan than %s: %s", e.File, e.other(), strings.Join(e.Fields, "; "))
}

func (e *PlanError) other() string {
	if e.Other == "" {
		return "the one asked for"
	}
	return e.Other
}

// samePlan compares a record with another of its kind.
func (r *Record) samePlan(other *Record) error {
	fields := difference(map[string]any{"kind": r.Kind, "plan": value(r.Plan)}, map[string]any{"kind": other.Kind, "plan": value(other.Plan)}, "")
	if len(fields) == 0 {
		return nil
	}
	return &PlanError{File: r.Name, Other: other.Name, Fields: fields}
}

// difference lists what differs between two values of JSON, in order.
func difference(a, b any, path string) []string {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	left, isObject := a.(map[string]any)
	right, areObjects := b.(map[string]any)
	if !isObject || !areObjects {
		return []string{fmt.Sprintf("%s is %s, not %s", path, inShort(a), inShort(b))}
	}
	fields := map[string]bool{}
	for field := range left {
		fields[field] = true
	}
	for field := range right {
		fields[field] = true
	}
	var out []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, difference(left[field], right[field], inner(path, field))...)
	}
	return out
}

// inner is the path of a field; that of the plan itself goes without saying.
func inner(path, field string) string {
	if path == "" || path == "plan" {
		return field
	}
	return path + "." + field
}

// inShort is a value as JSON, as far as it fits into a sentence.
func inShort(v any) string {
	const most = 60
	b, err := json.Marshal(v)
	if err != nil || v == nil {
		return "missing"
	}
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "…"
	}
	return string(b)
}

// value is what JSON says, with numbers as they are written. It is nil for text
// that is not JSON.
func value(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}
