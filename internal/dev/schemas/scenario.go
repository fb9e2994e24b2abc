package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
)

// scenario is the name of the schema of scenario files.
const scenario = "scenario"

// The values of a scenario file that are texts of a certain form.
const (
	length = `([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)`
	// lengthForm and spanForm are those that the parser reads; a length may be negative where
	// a field says so.
	lengthForm   = `^(0|(` + length + `)+)$`
	offsetForm   = `^-?(` + length + `)+$`
	spanForm     = `^(0|(` + length + `)+)(\.\.(` + length + `)+)?$`
	nameForm     = `^[a-z0-9][a-z0-9-]{0,63}$`
	registerForm = `^[a-z][a-z0-9-]{0,31}$`
	labelForm    = `^[a-z][a-z0-9-]*$`
)

// limits are the numbers that the fields of a scenario may have.
func limits() map[string][2]int {
	all := map[string][2]int{"redis": {0, file.MaxRedis}}
	for _, k := range file.Keys() {
		if n, ok := k.Value.(file.Number); ok {
			all[k.Name] = [2]int{n.Least, n.Most}
		}
	}
	return all
}

// scenarioSchema is the JSON Schema of scenario files, for editors. A scenario is YAML, and is
// read by a parser of its own: the schema is made of the types of package file, and of the
// forms of faults. Where the parser knows more, such as which clients a world has, it allows
// what the parser refuses.
func scenarioSchema(root string) ([]byte, error) {
	g := &generator{source: source{root: root, packages: map[string]*declarations{}}}
	top := g.group("", reflect.TypeFor[file.Scenario](), map[string]*jsonschema.Schema{
		"name":      {Type: "string", Pattern: nameForm},
		"title":     {Type: "string"},
		"why":       {Type: "string"},
		"catalogue": {Type: "array", Items: &jsonschema.Schema{Type: "string", Pattern: `^F[0-9]{2}$`}},
		"world":     g.world(),
		"lock": g.group("lock", reflect.TypeFor[file.LockSpec](),
			map[string]*jsonschema.Schema{"kind": {Type: "string"}, "settings": {
				Type: "object", PropertyNames: &jsonschema.Schema{Pattern: `^[a-z][a-z0-9_]{0,63}$`},
				AdditionalProperties: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
					{Type: "integer", Minimum: "0"}, {Type: "string", Pattern: lengthForm}}},
			}}),
		"store": {Type: "string"},
		"workload": g.group("workload", reflect.TypeFor[file.Workload](), map[string]*jsonschema.Schema{
			"resources": {Type: "array", Items: &jsonschema.Schema{Type: "string"}, MinItems: number(1),
				MaxItems: number(file.MaxResource), UniqueItems: true},
			"section": g.section(),
		}),
		"faults": {Type: "array", Items: g.fault(), MaxItems: number(file.MaxFaults)},
		"locks":  {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		"expect": {
			Type: "object",
			AdditionalProperties: &jsonschema.Schema{
				Type: "object", PropertyNames: texts(textsOf(fence.Modes())),
				AdditionalProperties: texts(textsOf(checker.Labels())),
			},
		},
	})
	top.Version = jsonschema.Version
	top.ID = "urn:locksim:schema:scenario:1"
	top.Title = "A scenario of locksim"
	top.Required = []string{"name"}
	if err := errors.Join(g.errs...); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(top)
	return out.Bytes(), err
}

// group is the schema of a mapping, from the struct that the parser reads it into, and from its entries of the
// reference. special has the schemas of fields that their types do not tell, by key; nil for a field that a file does
// not have.
func (g *generator) group(name string, t reflect.Type, special map[string]*jsonschema.Schema) *jsonschema.Schema {
	s := closed()
	s.Description = g.comment(t, "")
	for _, f := range reflect.VisibleFields(t) {
		key := strings.ReplaceAll(jsonschema.ToSnakeCase(f.Name), "-", "_")
		if !f.IsExported() || t == reflect.TypeFor[file.Scenario]() && (f.Name == "File" || f.Name == "Source") {
			continue
		}
		p, given := special[key]
		if !given {
			p = g.field(key, f.Type)
		}
		if p == nil {
			continue
		}
		p.Description = g.entryText(name, key)
		s.Properties.Set(key, p)
	}
	return s
}

// entryText is what the reference says of a key.
func (g *generator) entryText(group, key string) string {
	for _, e := range file.Reference() {
		if e.Group == group && e.Name == key && e.Absent == file.Needed {
			return e.Doc
		}
		if e.Group == group && e.Name == key {
			return strings.ReplaceAll(e.Doc+" Default: "+e.Absent+".", "`", "")
		}
	}
	g.fail("package file has no entry for the key %s of the group %q", key, group)
	return ""
}

// field is the schema of a field by its type.
func (g *generator) field(key string, t reflect.Type) *jsonschema.Schema {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: lengthForm}
	case t == reflect.TypeFor[file.Range]():
		return &jsonschema.Schema{Type: "string", Pattern: spanForm}
	case t.Kind() == reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case t.Kind() == reflect.Int:
		l, ok := limits()[key]
		if !ok {
			g.fail("no row of file.Keys is a number with the name %s", key)
		}
		return &jsonschema.Schema{Type: "integer", Minimum: decimal(int64(l[0])), Maximum: decimal(int64(l[1]))}
	case len(g.constants(t)) > 0:
		return texts(g.constants(t))
	}
	g.fail("there is no schema for a field %s of type %v", key, t)
	return nil
}

// world is the schema of the world, with a key for each kind of server.
func (g *generator) world() *jsonschema.Schema {
	s := g.group("world", reflect.TypeFor[file.World](), map[string]*jsonschema.Schema{"servers": nil})
	for _, k := range kinds.Servers() {
		s.Properties.Set(k.Name, &jsonschema.Schema{
			Description: g.entryText("world", k.Name),
			Type:        "integer", Minimum: "0", Maximum: decimal(file.MaxServers),
		})
	}
	return s
}

// section is the schema of a list of steps.
func (g *generator) section() *jsonschema.Schema {
	register := &jsonschema.Schema{Type: "string", Pattern: registerForm}
	step := &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		texts([]string{string(file.StepWork), string(file.StepCheck)}),
		single(string(file.StepRead), register), single(string(file.StepWrite), register),
		single(string(file.StepWork), &jsonschema.Schema{Type: "string", Pattern: lengthForm}),
	}}
	return &jsonschema.Schema{Type: "array", Items: step, MinItems: number(1), MaxItems: number(file.MaxSteps)}
}

// single is the schema of a mapping with one key.
func single(key string, value *jsonschema.Schema) *jsonschema.Schema {
	s := closed()
	s.Properties.Set(key, value)
	s.Required = []string{key}
	return s
}

// fault is the schema of a fault: one trigger and one action.
func (g *generator) fault() *jsonschema.Schema {
	s := closed()
	s.Description = "A fault: one trigger, which is at or when, and one action."
	when := closed()
	when.Description = "The event of a client at which the fault strikes."
	when.Properties.Set("client", &jsonschema.Schema{Description: "The client that passes the event, such as c0.",
		Type: "string"})
	when.Properties.Set("event", &jsonschema.Schema{
		Description: "The event: " + prose.Commas(faults.Events()) + ", or another named point of the workload or the lock.",
		Type:        "string", Pattern: labelForm,
	})
	when.Properties.Set("nth", &jsonschema.Schema{Description: "Which passing of it: 1 is the first.", Type: "integer",
		Minimum: "1"})
	when.Required = []string{"client", "event"}
	s.Properties.Set("when", when)
	s.Properties.Set("at", &jsonschema.Schema{Description: "The virtual time at which the fault strikes.", Type: "string",
		Pattern: lengthForm})
	s.Properties.Set("after", &jsonschema.Schema{Description: "How long after the event of when it strikes.",
		Type: "string", Pattern: lengthForm})
	s.Properties.Set("every", &jsonschema.Schema{Description: "The time from one strike to the next. Without a trigger " +
		"it is that of the first strike too. Without every the fault strikes once.", Type: "string", Pattern: lengthForm})
	s.Properties.Set("times", &jsonschema.Schema{Description: "How often the fault strikes in all. Without times it " +
		"strikes until every client has ended its workload.", Type: "integer", Minimum: "1",
		Maximum: decimal(faults.MaxTimes)})
	s.Properties.Set("probability",
		&jsonschema.Schema{Description: "How likely each strike is, in percent, drawn by the " +
			"seed. Without probability it is certain.", Type: "integer", Minimum: "1", Maximum: "99"})
	var actions []*jsonschema.Schema
	for _, k := range faults.Kinds() {
		s.Properties.Set(k.Name, action(k))
		actions = append(actions, &jsonschema.Schema{Required: []string{k.Name}})
	}
	s.AllOf = []*jsonschema.Schema{
		{AnyOf: []*jsonschema.Schema{{Required: []string{"at"}}, {Required: []string{"when"}},
			{Required: []string{"every"}}}},
		{Not: &jsonschema.Schema{Required: []string{"at", "when"}}},
		{OneOf: actions},
	}
	s.DependentRequired = map[string][]string{"after": {"when"}, "times": {"every"}}
	return s
}

// action is the schema of an action, from its form.
func action(k faults.Form) *jsonschema.Schema {
	s := closed()
	s.Description = sentence(k.Text)
	for _, f := range k.Fields {
		p := &jsonschema.Schema{Type: "string"}
		switch h := f.Holds.(type) {
		case faults.Names:
			p.Type, p.Items, p.MinItems, p.UniqueItems = "array", &jsonschema.Schema{Type: "string"}, number(1), true
		case faults.Word:
			p = texts(h.Words)
		case faults.Count:
			p.Type, p.Minimum, p.Maximum = "integer", "1", decimal(int64(h.Most))
		case faults.Deviation:
			p.Type, p.Minimum, p.Maximum, p.Not = "integer", decimal(h.Least), decimal(h.Most), &jsonschema.Schema{Const: 0}
		case faults.Length:
			p.Pattern = lengthForm
		case faults.Offset:
			p.Pattern = lengthForm
			if h.EitherWay {
				p.Pattern = offsetForm
			}
		}
		p.Description = sentence(f.Doc + ": " + f.Domain())
		s.Properties.Set(f.Key, p)
		if f.Needed() {
			s.Required = append(s.Required, f.Key)
		}
	}
	return s
}

// closed is the schema of a mapping that has no other keys than its properties.
func closed() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(),
		AdditionalProperties: jsonschema.FalseSchema}
}

// texts is the schema of one of several words.
func texts(values []string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// sentence begins a text with a capital and ends it with a point.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

func number(n uint64) *uint64 { return &n }

func decimal(n int64) json.Number { return json.Number(fmt.Sprint(n)) }

// schemaFile is the file of a schema in a checkout.
func schemaFile(root, name string) string {
	return filepath.Join(root, "reports", "schema", name+".schema.json")
}

// all are the schemas by name, in order, each with the function that makes it.
func all() (names []string, schemaOf map[string]func(root string) ([]byte, error)) {
	schemaOf = map[string]func(root string) ([]byte, error){scenario: scenarioSchema}
	names = []string{scenario}
	for _, d := range documents {
		names, schemaOf[d.name] = append(names, d.name), d.schema
	}
	slices.Sort(names)
	return names, schemaOf
}
