package promise

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// Each constant of type Fault has one row.
func TestEachClassHasItsRow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "faults.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Fault
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Fault" {
			for _, value := range spec.Values {
				name, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				declared = append(declared, Fault(name))
			}
		}
		return true
	})
	listed := Faults()
	if slices.Sort(declared); len(declared) < 20 {
		t.Fatalf("faults.go declares %q", declared)
	}
	if slices.Sort(listed); !slices.Equal(declared, listed) {
		t.Errorf("faults.go declares %q, and rows are there for %q", declared, listed)
	}
}

// Each row is filled: no class is without a word, or without an answer.
func TestEachRowOfAClassIsFilled(t *testing.T) {
	for _, c := range classes {
		row := reflect.ValueOf(c)
		for i := range row.NumField() {
			if row.Field(i).IsZero() {
				t.Errorf("the class %q has no %q", c.fault, row.Type().Field(i).Name)
			}
		}
		if c.stops == yes && c.absence != yes {
			t.Errorf("%s stops clients, and does not keep them away", c.fault)
		}
	}
}

// A class that nobody knows explains nothing, but for a key that remains.
func TestUnknownClass(t *testing.T) {
	f := Fault("unknown")
	if f.Means() != "" || f.Steady() || f.ChangesPace() || f.KeepsAway() || f.Stops() || f.Silences() || f.Undermines() {
		t.Errorf("it has the row %+v", f.row())
	}
	if !f.LeavesKey() || f.Unfelt() != "it had no effect" {
		t.Errorf("it leaves a key: %v; not felt: %q", f.LeavesKey(), f.Unfelt())
	}
}
