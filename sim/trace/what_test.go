package trace_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"locksim/sim/trace"
)

// all has a value of each type of the package that may be in a trace.
var all = []trace.What{
	trace.Connect{}, trace.Refused{}, trace.Send{}, trace.Receive{}, trace.Close{}, trace.EOF{}, trace.Reset{},
	trace.Exec{}, trace.Expire{}, trace.Apply{}, trace.Resync{}, trace.Reveal{}, trace.Snapshot{}, trace.Elected{}, trace.StepDown{}, trace.Decision{},
	trace.Pause{}, trace.Resume{}, trace.Suspend{}, trace.Wake{}, trace.Terminate{}, trace.Crash{}, trace.Restart{}, trace.KillWorker{}, trace.Slow{}, trace.SlowEnd{},
	trace.ClockJump{}, trace.ClockDrift{}, trace.Exhaust{}, trace.ExhaustEnd{}, trace.Await{}, trace.Cut{}, trace.Heal{},
	trace.Toxic{}, trace.ToxicEnd{}, trace.Refuse{}, trace.RefuseEnd{}, trace.Stall{}, trace.StallEnd{},
	trace.ReadOnly{}, trace.ReadOnlyEnd{}, trace.ErrorReply{}, trace.ErrorReplyEnd{}, trace.Promote{}, trace.NotPromoted{}, trace.Evict{}, trace.Flush{},
	trace.Mark{},
}

// The list of the types is complete.
func TestAllTypesAreHere(t *testing.T) {
	here := map[string]bool{}
	for _, w := range all {
		here[reflect.TypeOf(w).Name()] = true
	}
	for _, name := range typesWithAKind(t) {
		if !here[name] {
			t.Errorf("%s is a What, and no test knows it", name)
		}
	}
}

// typesWithAKind are the types in the package's source, other than Event, that
// have a method Kind.
func typesWithAKind(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Kind" {
				names = append(names, fmt.Sprint(f.Recv.List[0].Type))
			}
		}
	}
	if len(names) == 0 {
		t.Fatal("no type has a method Kind")
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

// Every field of every type counts: a change of any of them changes the hashed
// bytes, and equal values in different fields give different bytes.
func TestEveryFieldOfEveryTypeCounts(t *testing.T) {
	for _, w := range all {
		empty := reflect.New(reflect.TypeOf(w)).Elem()
		for i := range empty.NumField() {
			if empty.Field(i).Kind() == reflect.Interface { // contents
				empty.Field(i).Set(reflect.ValueOf(trace.Text("")))
			}
		}
		seen := map[string]string{hashed(empty): "nothing"}
		note := func(v reflect.Value, what string) {
			h := hashed(v)
			if other, ok := seen[h]; ok {
				t.Errorf("%T: %s gives the bytes of %s", w, what, other)
			}
			seen[h] = what
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
	if a, b := (trace.Exec{Request: trace.Text("")}), (trace.Exec{Request: trace.Text(""), Answer: trace.Text("")}); hashed(reflect.ValueOf(a)) == hashed(reflect.ValueOf(b)) {
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

func hashed(v reflect.Value) string { return string(v.Interface().(trace.What).AppendHash(nil)) }

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
		return []reflect.Value{reflect.ValueOf([]string{"x"}), reflect.ValueOf([]string{"x", "y"}), reflect.ValueOf([]string{"xy"}), reflect.ValueOf([]string{""})}
	case reflect.Interface:
		return []reflect.Value{reflect.ValueOf(trace.Text("x")), reflect.ValueOf(trace.Text(strings.Repeat("x", 1000))), reflect.ValueOf(trace.Text(strings.Repeat("x", 999)))}
	default:
		t.Fatalf("no values for a %v", field.Type())
	}
	out := make([]reflect.Value, len(all))
	for i, v := range all {
		out[i] = reflect.ValueOf(v).Convert(field.Type())
	}
	return out
}
