package mechanical

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The edits that only the packages of the judge have.
func TestFurtherEdits(t *testing.T) {
	text := `package checker

import "cmp"

func f(a, b int) int {
	switch a {
	case b, 7:
		return min(a+b, a*b)
	}
	return cmp.Or(g([]int{a, b}), b)
}
`
	list := func(further bool) (all []string) {
		edits, err := (&lister{file: "checker/f.go", text: []byte(text), further: further}).list()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range edits {
			_, name, _ := strings.Cut(e.Name, "f-f-")
			all = append(all, fmt.Sprintf("%s: %s -> %s", name, e.Before, e.After))
		}
		return all
	}
	few := list(false)
	got := slices.DeleteFunc(list(true), func(s string) bool { return slices.Contains(few, s) })
	want := []string{
		"lack-1: b,  -> ", "lack-2: , 7 -> ", "extreme-1: min -> max", "sign-1: + -> -", "factor-1: * -> /",
		"first-1: cmp.Or(g([]int{a, b}), b) -> g([]int{a, b})", "lack-3: a,  -> ", "lack-4: , b -> ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A sample of each package of the judge compiles, and is equal each time. Each reason is about a mutant with a name and
// code.
func TestSampleOfTheJudge(t *testing.T) {
	root := mustRoot(t)
	for _, folder := range []string{"checker", "sim", "scenarios/evidence", "scenarios/play"} {
		o := OwnTests{Folder: folder, Size: 10, Seed: 3}
		drawn, possible, err := o.draw(t.Context(), root)
		if err != nil || len(drawn) != 10 || possible < 1000 {
			t.Fatalf("%s: %d of %d: %v", folder, len(drawn), possible, err)
		}
		again, _, err := o.draw(t.Context(), root)
		if err != nil || !slices.Equal(drawn, again) {
			t.Errorf("%s: %v, and then %v: %v", folder, drawn, again, err)
		}
	}
	reasons, err := Reasons(root, unseen, afterCode)
	if err != nil {
		t.Fatal(err)
	}
	for name, reason := range reasons {
		if strings.Count(name, " `") != 1 || !strings.HasSuffix(reason, ".") {
			t.Errorf("%s: %s: want FOLDER/NAME `CODE`, and a sentence", name, reason)
		}
	}
}
