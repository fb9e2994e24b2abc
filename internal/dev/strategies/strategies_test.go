package strategies

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/book"
	"locksim/internal/dev/checkout"
	"locksim/internal/dev/strategies/trials"
)

// Each line of the list names a patch or a specimen that there is, and a class has enough of them to be compared.
func TestMistakes(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	all, err := mistakes(root, list, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.name] {
			t.Errorf("%s is in the list twice", m.name)
		}
		seen[m.name] = true
		if m.patch != nil {
			if _, err := m.patch.Mutated(root); err != nil {
				t.Error(err)
			}
		}
	}
	for _, class := range classes(all) {
		if n := len(of(all, class)); n < 8 {
			t.Errorf("class %s has %d mistakes, want 8 at least", class, n)
		}
	}
	for text, want := range map[string]string{
		"lease renewal/no-margin":         "mistakes.txt:1: want CLASS NAME LOCK",
		"\nlease renewal/none watchdog":   "mistakes.txt:2: there is no patch renewal/none",
		"lease renewal/no-margin mutex\n": "mistakes.txt:1: there is no lock mutex",
	} {
		if _, err := mistakes(root, text, regexp.MustCompile("")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// seconds are searches that took so long; a negative number is one that was cut off.
func seconds(strategy string, all ...float64) []trials.Trial {
	var out []trials.Trial
	for i, s := range all {
		out = append(out, trials.Trial{Strategy: strategy, First: uint64(i), Found: s > 0, Runs: int(100 * math.Abs(s)),
			CPU: time.Duration(math.Abs(s) * float64(time.Second))})
	}
	return out
}

func TestSample(t *testing.T) {
	s := sampleOf(seconds("x", 4, 2, -10, 1, 3, 7, 6, 5, 9, 8))
	if low, high := s.interval(); s.median() != 5.5 || low != 2 || high != 9 {
		t.Errorf("median %v in [%v, %v], want 5.5 in [2, 9]: the second and the ninth of ten", s.median(), low, high)
	}
	if s.runs() != 550 || s.found() != 9 {
		t.Errorf("%d runs, %d found; want 550 and 9", s.runs(), s.found())
	}
	if low, high := sampleOf(seconds("x", 1, 2, 3)).interval(); low != 1 || high != 3 {
		t.Errorf("three searches: [%v, %v], want all of them", low, high)
	}
}

// A strategy that takes half of the time for each mistake has the ratio 0.5, whatever the mistakes take.
func TestRatios(t *testing.T) {
	all := []mistake{{class: "a", name: "one"}, {class: "a", name: "two"}, {class: "b", name: "three"}}
	found := map[string]result{}
	for i, m := range all {
		f := math.Pow(10, float64(i-1))
		found[m.name] = result{Name: m.name, Limit: 100 * time.Second,
			Trials: append(seconds("slow", 2*f, 2*f, 2*f), seconds("fast", f, f, f)...)}
	}
	if mean, low, high := ratios(all, found, "fast", "slow"); math.Abs(mean-0.5) > 1e-9 || math.Abs(low-0.5) > 1e-9 ||
		math.Abs(high-0.5) > 1e-9 {
		t.Errorf("ratio %v [%v, %v], want 0.5", mean, low, high)
	}
	table := markdown(all, found, []string{"slow", "fast"})
	for _, want := range []string{"| all (3) | 0.50 [0.50, 0.50] |", "| a (2) | 0.50",
		"| three |  | 20.00 [20.00, 20.00] s, 2000, 3 of 3 | 10.00",
		"| slow | 100 % | 67 % | 67 % | 67 % | 33 % |", "| fast | 67 % | 67 % | 67 % | 33 % |"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

// The page is that of the stored results.
func TestPageIsOfTheResults(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "reports", "SEARCH.md"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := mistakes(root, list, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	b, err := book.Read(filepath.Join(root, resultsFile), result.name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(markdown(all, stored(b, all), []string{"swarm", "mixed"}), string(page)); d != "" {
		t.Errorf("make strategies STRATEGIES=--table makes another page (-want +got):\n%s", d)
	}
}
