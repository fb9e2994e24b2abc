package reports_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios"
)

// The module reports/formattest validates documents with these schemas. Here they
// are compared with the types that the documents are made from.

// schema is a part of a JSON Schema.
type schema struct {
	Schema               string             `json:"$schema"`
	ID                   string             `json:"$id"`
	Ref                  string             `json:"$ref"`
	Defs                 map[string]*schema `json:"$defs"`
	Description          string             `json:"description"`
	Type                 types              `json:"type"`
	Enum                 []string           `json:"enum"`
	Const                any                `json:"const"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties *schema            `json:"additionalProperties"`
	Items                *schema            `json:"items"`
	Required             []string           `json:"required"`
	Else                 *schema            `json:"else"`
	never                bool
}

// UnmarshalJSON reads an object, or false, which nothing satisfies.
func (s *schema) UnmarshalJSON(b []byte) error {
	if string(b) == "false" {
		s.never = true
		return nil
	}
	type plain schema
	return json.Unmarshal(b, (*plain)(s))
}

// types are the types that a value may have: one, or one and null.
type types string

// UnmarshalJSON reads "array" as it is, and ["array", "null"] as "array or null".
func (t *types) UnmarshalJSON(b []byte) error {
	var several []string
	if json.Unmarshal(b, &several) == nil {
		*t = types(strings.Join(several, " or "))
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

func readSchema(t *testing.T, name string) *schema {
	t.Helper()
	b, err := reports.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	s := new(schema)
	if err := json.Unmarshal(b, s); err != nil {
		t.Fatalf("schema %s: %v", name, err)
	}
	return s
}

// documents are what the schemas describe.
var documents = map[string]any{"explore": scenarios.Exploration{}, "matrix": scenarios.Matrix{}, "run": scenarios.RunFile{}, "sweep": scenarios.Sweep{}}

// Each field of a document is described, and nothing that is no field; what is
// always written is required; each description says something.
func TestSchemasNameEveryField(t *testing.T) {
	for _, name := range reports.Schemas() {
		s := readSchema(t, name)
		if s.Schema != "https://json-schema.org/draft/2020-12/schema" || s.ID != "urn:locksim:schema:"+name+":1" {
			t.Errorf("schema %s is %s, of the draft %q", name, s.ID, s.Schema)
		}
		if name != "list" { // which is the command's own: its test is there
			compare(t, name, reflect.TypeOf(documents[name]), s, s)
		}
	}
}

// What the schemas of campaigns say of a run, the schema of runs says too.
func TestSchemasAgree(t *testing.T) {
	run := plainSchema(t, "run")
	stored := run["properties"].(map[string]any)
	stored["timing"] = map[string]any{"$ref": "#/$defs/run_timing"}
	for _, name := range []string{"explore", "sweep"} {
		defs := plainSchema(t, name)["$defs"].(map[string]any)
		for def, want := range run["$defs"].(map[string]any) {
			if def == "timing" {
				def = "run_timing"
			}
			if diff := cmp.Diff(want, defs[def]); diff != "" {
				t.Errorf("schema %s, %s (-run +%[1]s):\n%s", name, def, diff)
			}
		}
		file := defs["run_file"].(map[string]any)
		if diff := cmp.Diff([]any{stored, run["required"]}, []any{file["properties"], file["required"]}); diff != "" {
			t.Errorf("schema %s, run_file (-run +%[1]s):\n%s", name, diff)
		}
	}
}

// plainSchema is a schema as nothing but JSON.
func plainSchema(t *testing.T, name string) map[string]any {
	t.Helper()
	b, err := reports.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// compare walks through a type and the schema of it.
func compare(t *testing.T, path string, typ reflect.Type, s, root *schema) {
	t.Helper()
	if ref, isRef := strings.CutPrefix(s.Ref, "#/$defs/"); isRef {
		s = root.Defs[ref]
	}
	if s == nil {
		t.Errorf("%s: the schema says nothing", path)
		return
	}
	switch typ.Kind() {
	case reflect.Struct:
		compareFields(t, path, typ, s, root)
	case reflect.Pointer:
		compare(t, path, typ.Elem(), s, root)
	case reflect.Slice:
		if s.Type != "array" && s.Type != "array or null" || s.Items == nil {
			t.Errorf("%s is a list, and in the schema a %q", path, s.Type)
			return
		}
		compare(t, path+"[]", typ.Elem(), s.Items, root)
	case reflect.Map:
		compare(t, path+".*", typ.Elem(), s.AdditionalProperties, root)
	case reflect.String:
		if s.Type != "string" && len(s.Enum) == 0 {
			t.Errorf("%s is a text, and in the schema a %q", path, s.Type)
		}
	case reflect.Bool:
		expectType(t, path, s, "boolean")
	case reflect.Float64:
		expectType(t, path, s, "number")
	case reflect.Int, reflect.Int64, reflect.Uint64:
		if s.Const == nil {
			expectType(t, path, s, "integer")
		}
	default:
		t.Errorf("%s: no schema for a %s", path, typ.Kind())
	}
}

func expectType(t *testing.T, path string, s *schema, want types) {
	t.Helper()
	if s.Type != want {
		t.Errorf("%s: type %q, want %q", path, s.Type, want)
	}
}

func compareFields(t *testing.T, path string, typ reflect.Type, s, root *schema) {
	t.Helper()
	expectType(t, path, s, "object")
	if s.AdditionalProperties == nil || !s.AdditionalProperties.never {
		t.Errorf("%s: the schema lets unknown fields pass", path)
	}
	var names, always []string
	sometimes := []string{} // required, of a run unless it was not made
	for _, f := range jsonFields(typ, false) {
		names = append(names, f.name)
		switch {
		case !f.omitted && !f.ofPointer:
			always = append(always, f.name)
		case f.ofPointer && !f.omitted:
			sometimes = append(sometimes, f.name)
		}
		field := s.Properties[f.name]
		if field == nil {
			t.Errorf("%s: the schema lacks the field %s", path, f.name)
			continue
		}
		if field.Description == "" && field.Ref == "" {
			t.Errorf("%s.%s has no description", path, f.name)
		}
		compare(t, path+"."+f.name, f.typ, field, root)
	}
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			t.Errorf("%s: the schema has a field %s that is never written", path, name)
		}
	}
	for _, name := range always {
		if !slices.Contains(s.Required, name) {
			t.Errorf("%s: %s is always written, and not required", path, name)
		}
	}
	if extra := without(s.Required, append(always, sometimes...)); len(extra) > 0 {
		t.Errorf("%s: %q are required, and not always written", path, extra)
	}
	if missing := without(sometimes, append(required(s.Else), s.Required...)); len(missing) > 0 {
		t.Errorf("%s: %q are written where there is what they are about, and not required there", path, missing)
	}
}

func required(s *schema) []string {
	if s == nil {
		return nil
	}
	return s.Required
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// jsonField is a field as encoding/json writes it.
type jsonField struct {
	name      string
	typ       reflect.Type
	omitted   bool // where it is empty
	ofPointer bool // of an embedded struct that may be nil
}

func jsonFields(typ reflect.Type, ofPointer bool) []jsonField {
	var out []jsonField
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			out = append(out, jsonFields(f.Type.Elem(), true)...)
		case f.Anonymous && name == "":
			out = append(out, jsonFields(f.Type, ofPointer)...)
		case f.IsExported() && name != "-":
			out = append(out, jsonField{name, f.Type, opts == "omitempty", ofPointer})
		}
	}
	return out
}

// The words that a schema allows are those that there are, in the same order.
func TestSchemasKnowTheWords(t *testing.T) {
	var modes, labels []string
	for _, m := range fence.Modes() {
		modes = append(modes, string(m))
	}
	for _, l := range checker.Labels() {
		labels = append(labels, string(l))
	}
	for name := range documents {
		defs := readSchema(t, name).Defs
		if diff := cmp.Diff(modes, defs["mode"].Enum); diff != "" {
			t.Errorf("schema %s, modes (-there are +allowed):\n%s", name, diff)
		}
		if diff := cmp.Diff(labels, defs["label"].Enum); diff != "" {
			t.Errorf("schema %s, labels (-there are +allowed):\n%s", name, diff)
		}
	}
}

func TestSchemasKnowTheFaults(t *testing.T) {
	var classes, kinds []string
	for _, f := range lock.Faults() {
		classes = append(classes, string(f))
	}
	for _, k := range scenarios.SweepKinds() {
		kinds = append(kinds, k.Name)
	}
	for _, tt := range []struct {
		schema, def string
		want        []string
	}{{"explore", "fault_class", classes}, {"list", "fault_class", classes}, {"sweep", "kind", kinds}} {
		if diff := cmp.Diff(tt.want, readSchema(t, tt.schema).Defs[tt.def].Enum); diff != "" {
			t.Errorf("schema %s, %s (-there are +allowed):\n%s", tt.schema, tt.def, diff)
		}
	}
}

func TestSchemasHaveTheVersions(t *testing.T) {
	for name, want := range map[string]string{"explore": scenarios.ExploreKind, "sweep": scenarios.SweepName} {
		if got := readSchema(t, name).Properties["kind"].Const; got != want {
			t.Errorf("schema %s is of a kind %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]float64{"run": scenarios.RunVersion, "matrix": scenarios.MatrixVersion,
		"explore": scenarios.ExploreVersion, "sweep": scenarios.SweepVersion} {
		if got := readSchema(t, name).Properties["version"].Const; got != want {
			t.Errorf("schema %s is of version %v, want %v", name, got, want)
		}
	}
}

func TestNoSuchSchema(t *testing.T) {
	for _, name := range []string{"", "runs", "../schema/run", "run.schema.json"} {
		if b, err := reports.Schema(name); err == nil || len(b) > 0 || !strings.Contains(err.Error(), "choose one of explore, list, matrix, run, sweep") {
			t.Errorf("%q: got %d bytes and the error %v", name, len(b), err)
		}
	}
}
