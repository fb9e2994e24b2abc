package broken_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"locksim/lock/broken"
	"locksim/lock/broken/mistake"
	"locksim/lock/fence"
)

func ExampleAll() {
	for _, s := range broken.All()[:2] {
		fmt.Printf("%s %s: %s\n", s.ID, s.Name, s.Wrong)
	}
	// Output:
	// F01 setnx-then-expire: The key gets its TTL by a second command, so a crash between the two leaves it there for ever.
	// F02 del-without-owner: The release deletes the key without a check of its owner.
}

var sentence = regexp.MustCompile(`^[A-Z][^.]+\.$`)

// The data of each specimen are valid for the harness.
func TestData(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range broken.All() {
		if seen[s.Name] {
			t.Errorf("two specimens have the name %s", s.Name)
		}
		seen[s.Name] = true
		if !sentence.MatchString(s.Wrong) {
			t.Errorf("%s: %q is not one sentence", s.Name, s.Wrong)
		}
		mode, err := fence.ParseMode(s.Mode)
		if err != nil || mode.NeedsToken() && !s.Tokens {
			t.Errorf("%s: mode %q does not exist, or needs tokens that the specimen lacks", s.Name, s.Mode)
		}
		if detectors[s.Detector] == nil {
			t.Errorf("%s: there is no detector %q", s.Name, s.Detector)
		}
		if s.MinTTL <= 0 || s.MaxTTL < s.MinTTL {
			t.Errorf("%s: there are no TTLs from %v to %v", s.Name, s.MinTTL, s.MaxTTL)
		}
	}
}

// Each file names its mistake, and has the right line beside the wrong one.
func TestFiles(t *testing.T) {
	for _, s := range broken.All() {
		source, err := os.ReadFile(strings.ReplaceAll(s.Name, "-", "_") + ".go")
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{"\n// " + s.ID + ": ", "Wrong:", "Right: "} {
			if !strings.Contains(string(source), want) {
				t.Errorf("%s: the file lacks %q", s.Name, want)
			}
		}
	}
}

func TestFindUnknown(t *testing.T) {
	_, err := broken.Find("single")
	for _, want := range []string{`no broken lock "single"`, "get-then-del, "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestNewNamesMissingOptions(t *testing.T) {
	s := broken.All()[0]
	_, err := s.New(nil, broken.Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "make broken/setnx-then-expire: 0 clients") {
		t.Errorf("no nodes: %v", err)
	}
	_, err = s.New(make([]redis.Cmdable, 1), broken.Options{})
	for _, missing := range []string{"Clock", "Entropy", "Jitter", "Identity"} {
		if err == nil || !strings.Contains(err.Error(), "no "+missing) {
			t.Errorf("error %v does not ask for %s", err, missing)
		}
	}
}

// Every mistake is made by a specimen, in the same order.
func TestEveryMistakeIsMade(t *testing.T) {
	var made []mistake.Mistake
	for _, s := range broken.All() {
		made = append(made, s.Mistake)
	}
	if all := mistake.All(); !reflect.DeepEqual(made, all) {
		t.Errorf("made are %v, and the mistakes are %v", made, all)
	}
}
