package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/reports"
)

// Each field that list writes is in its schema, and nothing else is; what the
// command prints has what the schema requires.
func TestListHasItsSchema(t *testing.T) {
	code, out, errs := own(t, "list", "--json")
	if code != exitExpected {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	root := jsonOf(t, schemaOf(t, "list"))
	document := jsonOf(t, []byte(out))
	c := &listCheck{defs: root["defs"].(map[string]any), fields: map[string]bool{}}
	c.check("", root, document)
	for _, p := range c.problems {
		t.Error(p)
	}
	if got, want := slices.Sorted(maps.Keys(c.fields)), fieldsOf(reflect.TypeFor[catalogue](), ""); !slices.Equal(got, want) {
		t.Errorf("the schema has %q\nand the command can write %q", got, want)
	}

	delete(document, "locks")
	document["scenarios"].([]any)[0].(map[string]any)["surprise"] = "yes"
	document["faults"].([]any)[0].(map[string]any)["name"] = 7.0
	document["failure_modes"].([]any)[0].(map[string]any)["id"] = "17"
	c.problems = nil
	c.check("", root, document)
	want := []string{"/failure_modes/0/id is 17", "/faults/0/name is not a string", "/locks is missing", "/scenarios/0/surprise is unknown"}
	if slices.Sort(c.problems); !slices.Equal(c.problems, want) {
		t.Errorf("a broken list: %q, want %q", c.problems, want)
	}
}

func schemaOf(t *testing.T, name string) []byte {
	t.Helper()
	b, err := reports.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.ReplaceAll(string(b), `"$defs"`, `"defs"`))
}

func jsonOf(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// fieldsOf are the fields of a document by their paths, sorted.
func fieldsOf(typ reflect.Type, path string) []string {
	var out []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		out = append(out, path+"/"+name)
		if inner.Kind() == reflect.Struct {
			out = append(out, fieldsOf(inner, path+"/"+name)...)
		}
	}
	slices.Sort(out)
	return out
}

// listCheck holds a document against a schema, as far as that of list goes.
type listCheck struct {
	defs     map[string]any
	fields   map[string]bool // of the schema, by their paths
	problems []string
}

var indices = regexp.MustCompile(`/\d+`)

func (c *listCheck) check(path string, s map[string]any, v any) {
	if ref, ok := s["$ref"].(string); ok {
		s = c.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(path, s, v)
	case []any:
		for i, item := range v {
			c.check(fmt.Sprintf("%s/%d", path, i), s["items"].(map[string]any), item)
		}
	case string:
		pattern, _ := s["pattern"].(string)
		enum, limited := s["enum"].([]any)
		if !regexp.MustCompile(pattern).MatchString(v) || limited && !slices.Contains(enum, any(v)) {
			c.problems = append(c.problems, path+" is "+v)
		}
	default:
		if kind := map[any]string{"integer": "float64", "boolean": "bool"}[s["type"]]; reflect.TypeOf(v).String() != kind {
			c.problems = append(c.problems, fmt.Sprintf("%s is not a %v", path, s["type"]))
		}
	}
}

func (c *listCheck) object(path string, s, v map[string]any) {
	properties := s["properties"].(map[string]any)
	for name := range properties {
		c.fields[indices.ReplaceAllString(path, "")+"/"+name] = true
	}
	for _, name := range s["required"].([]any) {
		if _, ok := v[name.(string)]; !ok {
			c.problems = append(c.problems, fmt.Sprintf("%s/%s is missing", path, name))
		}
	}
	for name, value := range v {
		if p, ok := properties[name].(map[string]any); ok {
			c.check(path+"/"+name, p, value)
		} else {
			c.problems = append(c.problems, fmt.Sprintf("%s/%s is unknown", path, name))
		}
	}
}
