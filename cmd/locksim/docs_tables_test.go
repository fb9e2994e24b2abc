package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/cmd/locksim/app"
	"locksim/lock/promise"
	"locksim/reports"
	"locksim/scenarios/file"
)

// generated are the parts of the reference that are made from rows of the code: by page, and by the name in the
// comments around them.
var generated = map[string]map[string]func(t *testing.T) string{
	"docs/reference/labels-and-facts.md": {
		"labels": labelTable, "facts": factTable, "leaders": leaderTable, "slack": slackTable, "duties": dutyTable,
	},
	"docs/reference/scenario-files.md": {
		"file": keyTable(""), "world": keyTable("world"), "lock": keyTable("lock"), "workload": keyTable("workload"),
	},
	"docs/reference/flags.md":     {"flags": flagTables},
	"docs/reference/documents.md": {"documents": documentTables},
}

// What the reference has from rows is what they say. With -update it is made anew.
func TestDocsTables(t *testing.T) {
	for page, parts := range generated {
		for name, part := range parts {
			path := filepath.Join(root, page)
			before, rest, ok1 := strings.Cut(readFile(t, path), "<!-- "+name+":begin")
			marker, rest, ok2 := strings.Cut(rest, "\n")
			was, after, ok3 := strings.Cut(rest, "<!-- "+name+":end -->")
			if !ok1 || !ok2 || !ok3 {
				t.Fatalf("%s has no part between <!-- %s:begin … and <!-- %[2]s:end -->", page, name)
			}
			want := part(t)
			if *update {
				text := before + "<!-- " + name + ":begin" + marker + "\n" + want + "<!-- " + name + ":end -->" + after
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := diff.Diff(want, was); d != "" {
				t.Errorf("%s is out of date: run go test ./cmd/locksim -run Docs -update (-code +page):\n%s", page, d)
			}
		}
	}
}

// table is a table of Markdown.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	for i, row := range slices.Insert(rows, 0, head) {
		for _, cell := range row {
			b.WriteString(strings.TrimRight("| "+strings.ReplaceAll(cell, "|", "\\|"), " ") + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
		}
	}
	return b.String()
}

func quoted(text string) string { return "`" + text + "`" }

func labelTable(*testing.T) string {
	var rows [][]string
	for _, l := range checker.Labels() {
		var facts []string
		for _, f := range checker.FactList() {
			if f.Label == l {
				facts = append(facts, quoted(f.Name))
			}
		}
		rows = append(rows, []string{quoted(string(l)), l.Means(), strings.Join(facts, ", ")})
	}
	return table([]string{"label", "meaning", "by the facts"}, rows)
}

// factsThat is the table of the facts of leaders, or of all others.
func factsThat(lead bool) string {
	var rows [][]string
	for _, f := range checker.FactList() {
		if (f.Of == checker.OfLeaders) == lead {
			rows = append(rows, []string{quoted(f.Name), f.Means})
		}
	}
	return table([]string{"fact", "meaning"}, rows)
}

func factTable(*testing.T) string { return factsThat(false) }

func leaderTable(*testing.T) string { return factsThat(true) }

func slackTable(*testing.T) string {
	var rows [][]string
	for _, k := range checker.SlackKinds() {
		unit, least := "nanoseconds", "0"
		if k.Counts() {
			unit = "a number"
		}
		if k.Least() > 0 {
			least = map[bool]string{true: "1", false: "above 0"}[k.Counts()]
		}
		rows = append(rows, []string{quoted(string(k)), unit, k.Means(), least})
	}
	return table([]string{"kind", "unit", "from what to what", "least that is right"}, rows)
}

func dutyTable(*testing.T) string {
	var rows [][]string
	for _, d := range promise.Duties() {
		rows = append(rows, []string{quoted(string(d)), d.Broken()})
	}
	return table([]string{"duty", "what breaks it"}, rows)
}

// keyTable is the table of the keys of a group of scenario files.
func keyTable(group string) func(*testing.T) string {
	return func(*testing.T) string {
		var rows [][]string
		for _, e := range file.Reference() {
			if e.Group == group {
				rows = append(rows, []string{quoted(e.Name), e.Domain, e.Absent, e.Doc})
			}
		}
		return table([]string{"key", "what it may be", "where it is left out", "meaning"}, rows)
	}
}

// flagTables has each command with its flags.
func flagTables(t *testing.T) string {
	out, err := exec.CommandContext(t.Context(), "locksim", "list", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list app.List
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range list.Commands {
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s\n", c.Name, c.Text, quoted(c.Usage))
		var rows [][]string
		for _, f := range c.Flags {
			name := "--" + f.Name
			if f.Type != "bool" {
				name += " " + cmp.Or(f.Value, f.Type)
			}
			byDefault := ""
			if f.Default != "" && f.Default != "0" {
				byDefault = quoted(f.Default)
			}
			rows = append(rows, []string{quoted(name), byDefault, f.Text})
		}
		if len(rows) > 0 {
			b.WriteString("\n" + table([]string{"flag", "default", "meaning"}, rows))
		}
	}
	return b.String() + "\n"
}

// schema is what the reference has of a JSON Schema.
type schema struct {
	Ref, Type, Description string
	Enum                   []any
	Items                  *schema
	AnyOf, OneOf           []schema
	Required               []string
	Properties             orderedSchemas
	Defs                   map[string]schema `json:"$defs"`
}

// orderedSchemas are the properties of an object, in their order.
type orderedSchemas []struct {
	name string
	of   schema
}

func (o *orderedSchemas) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var s schema
		if err := d.Decode(&s); err != nil {
			return err
		}
		*o = append(*o, struct {
			name string
			of   schema
		}{fmt.Sprint(name), s})
	}
	return nil
}

// is says of what type a value is.
func (s schema) is() string {
	switch {
	case s.Ref != "":
		return quoted(strings.TrimPrefix(s.Ref, "#/$defs/"))
	case len(s.Enum) > 0:
		return "one of some words"
	case s.Items != nil:
		return "a list of " + s.Items.is()
	}
	var all []string
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		all = append(all, one.is())
	}
	return cmp.Or(s.Type, strings.Join(all, " or "), "any value")
}

// text is what a schema says of a value, or what it says of the type of it.
func (s schema) text(of schema) string {
	for _, one := range append(of.AnyOf, of) {
		if text := cmp.Or(of.Description, s.Defs[strings.TrimPrefix(one.Ref, "#/$defs/")].Description); text != "" {
			return text
		}
	}
	return ""
}

// documentTables has each document with its fields.
func documentTables(t *testing.T) string {
	var b strings.Builder
	for _, name := range reports.Schemas() {
		if name == "scenario" {
			continue // it is a page of its own
		}
		data, err := reports.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.ReplaceAll(data, []byte(`"$ref":`), []byte(`"ref":`))
		var s schema
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s [Schema](../../reports/schema/%[1]s.schema.json).\n\n", name, s.Description)
		var rows [][]string
		for _, p := range s.Properties {
			always := ""
			if slices.Contains(s.Required, p.name) {
				always = "✓"
			}
			rows = append(rows, []string{quoted(p.name), p.of.is(), always, s.text(p.of)})
		}
		b.WriteString(table([]string{"field", "type", "always", "meaning"}, rows))
	}
	return b.String() + "\n"
}
