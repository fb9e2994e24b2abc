package faults_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/lock/promise"
)

var update = flag.Bool("update", false, "write the tables of docs/reference/faults.md anew")

// TestReference holds the tables of docs/reference/faults.md equal to what the forms and the classes say.
func TestReference(t *testing.T) {
	const page = "../docs/reference/faults.md"
	for name, want := range map[string]string{"faults": reference(), "classes": classTable(),
		"elsewhere": elsewhereTable()} {
		begin, end := "<!-- "+name+":begin", "<!-- "+name+":end -->"
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok1 := strings.Cut(string(data), begin)
		marker, rest, ok2 := strings.Cut(rest, "\n")
		old, after, ok3 := strings.Cut(rest, end)
		if !ok1 || !ok2 || !ok3 {
			t.Fatalf("%s lacks the lines %s and %s", page, begin, end)
		}
		if *update {
			if err := os.WriteFile(page, []byte(before+begin+marker+"\n"+want+end+after), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(want, old); diff != "" {
			t.Errorf("%s is not what the code says: go test ./faults -run TestReference -update (-code +page):\n%s", page, diff)
		}
	}
}

// elsewhereTable is a table of the words of other tools beside ours.
func elsewhereTable() string {
	var w strings.Builder
	w.WriteString("| tool | its word | ours | note |\n|---|---|---|---|\n")
	tool := ""
	for _, e := range faults.AllElsewhere() {
		first, ours := "", "–"
		if e.Tool != tool {
			tool, first = e.Tool, e.Tool
		}
		if e.Ours != "" {
			ours = "`" + e.Ours + "`"
		}
		fmt.Fprintf(&w, "| %s | `%s` | %s | %s |\n", first, e.Name, ours, e.Note)
	}
	return w.String()
}

// classTable is a table of every class of fault.
func classTable() string {
	var w strings.Builder
	w.WriteString("| class | what goes wrong | the servers keep their keys and clocks | clients send more | clients are " +
		"kept away | they stand still | a server is silent | a key may be left | locks rely on its absence " +
		"|\n|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range promise.Faults() {
		fmt.Fprintf(&w, "| `%s` | %s |", c, c.Means())
		for _, yes := range []bool{
			c.Steady(), c.ChangesPace(), c.KeepsAway(), c.Stops(), c.Silences(), c.LeavesKey(), c.Undermines(),
		} {
			sign := ""
			if yes {
				sign = "✓ "
			}
			w.WriteString(" " + sign + "|")
		}
		w.WriteString("\n")
	}
	return w.String()
}

// reference is a table of every fault, and one of every key.
func reference() string {
	var kinds, keys strings.Builder
	kinds.WriteString("| fault | what happens | class | with all its keys |\n|---|---|---|---|\n")
	keys.WriteString("| fault | key | what it says | what it may be | where it is left out |\n|---|---|---|---|---|\n")
	for _, k := range faults.Kinds() {
		var classes, examples []string
		for _, c := range k.Classes() {
			classes = append(classes, "`"+string(c)+"`")
		}
		for i, f := range k.Fields {
			name := ""
			if i == 0 {
				name = "`" + k.Name + "`"
			}
			absent := f.Absent()
			if f.Needed() {
				absent = "it must be there"
			}
			examples = append(examples, f.Example())
			fmt.Fprintf(&keys, "| %s | `%s` | %s | %s | %s |\n", name, f.Key, f.Doc, f.Domain(), absent)
		}
		fmt.Fprintf(&kinds, "| `%s` | %s | %s | `{%s}` |\n", k.Name, k.Text, strings.Join(classes, ", "),
			strings.Join(examples, ", "))
	}
	return kinds.String() + "\n" + keys.String()
}
