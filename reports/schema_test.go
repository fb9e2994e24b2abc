package reports_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
	"locksim/scenarios/sweep"
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
var documents = map[string]any{"explore": explore.Exploration{}, "matrix": matrix.Matrix{}, "run": play.RunFile{}, "sweep": sweep.Sweep{}}

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
	for _, f := range (&explore.Plan{}).Classes() {
		classes = append(classes, string(f))
	}
	for _, k := range sweep.Kinds() {
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
	for name, want := range map[string]string{"explore": explore.Kind, "sweep": sweep.Name} {
		if got := readSchema(t, name).Properties["kind"].Const; got != want {
			t.Errorf("schema %s is of a kind %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]float64{"run": play.RunVersion, "matrix": matrix.Version,
		"explore": explore.Version, "sweep": sweep.Version} {
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
