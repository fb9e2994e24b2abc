package faults_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
)

var update = flag.Bool("update", false, "write the tables of docs/faults.md anew")

// TestReference holds the tables of docs/faults.md equal to what the forms say.
func TestReference(t *testing.T) {
	const page, begin, end = "../docs/faults.md", "<!-- faults:begin", "<!-- faults:end -->"
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
	want := reference()
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+marker+"\n"+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, old); diff != "" {
		t.Errorf("%s is not what the forms say: go test ./faults -run TestReference -update (-forms +page):\n%s", page, diff)
	}
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
		fmt.Fprintf(&kinds, "| `%s` | %s | %s | `{%s}` |\n", k.Name, k.Text, strings.Join(classes, ", "), strings.Join(examples, ", "))
	}
	return kinds.String() + "\n" + keys.String()
}
