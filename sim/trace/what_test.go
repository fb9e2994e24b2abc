package trace_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"locksim/sim/trace"
)

// The list of the types is complete.
func TestAllTypesAreHere(t *testing.T) {
	here := map[string]bool{}
	for _, w := range all {
		here[reflect.TypeOf(w).Name()] = true
	}
	for _, name := range typesIn(t, "*.go") {
		if !here[name] {
			t.Errorf("%s is a What, and no test knows it", name)
		}
	}
}

// typesIn are the types in the package's source, other than Event, that have a
// method Kind.
func typesIn(t *testing.T, pattern string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv != nil && f.Name.Name == "Kind" && !strings.HasSuffix(name, "_test.go") {
				names = append(names, fmt.Sprint(f.Recv.List[0].Type))
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("no type in %s has a method Kind", pattern)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "Event" })
}

// No two types have the same kind, and no step has the kind of a type.
func TestKindsAreDistinct(t *testing.T) {
	whose := map[string]string{}
	note := func(kind, who string) {
		if other := whose[kind]; kind == "" || other != "" {
			t.Errorf("the kind of %s is %q, which is that of %q too", who, kind, other)
		}
		whose[kind] = who
	}
	for _, w := range all {
		if _, mark := w.(trace.Mark); !mark {
			note(w.Kind(), fmt.Sprintf("%T", w))
		}
	}
	for _, s := range trace.Steps() {
		note(trace.Mark{Step: s}.Kind(), "the step "+s.String())
	}
}

// Every field of every type counts: a change of any of them changes the hash and
// the JSON, and equal values in different fields give different ones.
func TestEveryFieldOfEveryTypeCounts(t *testing.T) {
	for _, w := range all {
		empty := reflect.New(reflect.TypeOf(w)).Elem()
		for i := range empty.NumField() {
			if empty.Field(i).Kind() == reflect.Interface { // contents
				empty.Field(i).Set(reflect.ValueOf(trace.Text("")))
			}
		}
		seen := map[string]string{hashed(empty): "nothing", written(empty): "nothing"}
		note := func(v reflect.Value, what string) {
			for _, bytes := range []string{hashed(v), written(v)} {
				if other, ok := seen[bytes]; ok {
					t.Errorf("%T: %s gives the bytes of %s: %s", w, what, other, bytes)
				}
				seen[bytes] = what
			}
		}
		for i := range empty.NumField() {
			for n, value := range values(t, empty.Field(i)) {
				v := reflect.New(reflect.TypeOf(w)).Elem()
				v.Set(empty)
				v.Field(i).Set(value)
				note(v, fmt.Sprintf("%s, value %d,", v.Type().Field(i).Name, n))
			}
		}
		shift(empty, note)
	}
	a, b := trace.Exec{Request: trace.Text("")}, trace.Exec{Request: trace.Text(""), Answer: trace.Text("")}
	if hashed(reflect.ValueOf(a)) == hashed(reflect.ValueOf(b)) {
		t.Error("Exec: no answer gives the bytes of an empty one")
	}
}

// shift moves a letter from each text to the next one.
func shift(empty reflect.Value, note func(v reflect.Value, what string)) {
	texts := []int{}
	for i := range empty.NumField() {
		if empty.Field(i).Kind() == reflect.String {
			texts = append(texts, i)
		}
	}
	for i := range len(texts) - 1 {
		for _, pair := range [][2]string{{"ab", "c"}, {"a", "bc"}} {
			v := reflect.New(empty.Type()).Elem()
			v.Set(empty)
			v.Field(texts[i]).SetString(pair[0])
			v.Field(texts[i+1]).SetString(pair[1])
			note(v, fmt.Sprintf("%q in %s", pair, empty.Type().Field(texts[i]).Name))
		}
	}
}

func hashed(v reflect.Value) string { return traceOf(v).Hash() }

// written is the JSON of an event: its kind and its fields, without its text.
func written(v reflect.Value) string {
	line := string(traceOf(v).JSON())
	_, fields, _ := strings.Cut(line, `,"fields":`)
	return v.Interface().(trace.What).Kind() + " " + fields
}

// traceOf is a trace of one event.
func traceOf(v reflect.Value) *trace.Trace {
	return &trace.Trace{Events: []trace.Event{{What: v.Interface().(trace.What)}}}
}

// values are different ones for a field, none of them empty.
func values(t *testing.T, field reflect.Value) []reflect.Value {
	var all []any
	switch field.Kind() {
	case reflect.String:
		all = []any{"x", "y", "xy"}
	case reflect.Bool:
		all = []any{true}
	case reflect.Int, reflect.Int64:
		all = []any{1, -1, 256, 1 << 40}
	case reflect.Uint8:
		all = []any{1, 2}
	case reflect.Uint64:
		all = []any{1, 256, 1 << 40}
	case reflect.Slice:
		return []reflect.Value{reflect.ValueOf([]string{"x"}), reflect.ValueOf([]string{"x", "y"}),
			reflect.ValueOf([]string{"xy"}), reflect.ValueOf([]string{""})}
	case reflect.Interface:
		return []reflect.Value{reflect.ValueOf(trace.Text("x")), reflect.ValueOf(trace.Text(strings.Repeat("x", 1000))),
			reflect.ValueOf(trace.Text(strings.Repeat("x", 999)))}
	default:
		t.Fatalf("no values for a %v", field.Type())
	}
	out := make([]reflect.Value, len(all))
	for i, v := range all {
		out[i] = reflect.ValueOf(v).Convert(field.Type())
	}
	return out
}
