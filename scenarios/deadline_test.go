package scenarios_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksim/internal/testlocks"
	"locksim/scenarios"
)

// hurried is a witness of a test that ends soon.
type hurried struct {
	*witness
	end time.Time
}

func (h hurried) Deadline() (time.Time, bool) { return h.end, true }

// A failure is printed as soon as it is found: when a process ends by its -timeout, what a test has logged is lost.
// What there is no time for is left out, and the test says what.
func TestCheckSaysAtOnceWhatItFinds(t *testing.T) {
	early, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	usual := os.Stderr
	os.Stderr = early
	t.Cleanup(func() { os.Stderr = usual; _ = early.Close() })
	opts := quick(t)
	h := hurried{&witness{TB: t, name: "TestTheirs"}, time.Now().Add(time.Second)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		scenarios.Check(h, testlocks.Fakes()[0].Lock, opts)
	}()
	<-done
	said, err := os.ReadFile(early.Name())
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(said), `\ATestTheirs: found, and examined next: seed \d+: \S+ fails: `, `^  Happened: \S`,
		`^  replay: go test -count=1 -run '\^TestTheirs\$', with Options\{Seed: \d+\}$`)
	if len(h.errors) != 1 {
		t.Fatalf("%d errors:\n%s", len(h.errors), h.said())
	}
	wants(t, h.errors[0], `\Aseed \d+: \S+ fails: `, `^  Happened: \S`,
		`^left out for lack of time \(a run takes up to \S+ here; see -timeout\): 9 repetitions, smaller schedules, a play of it as it is stored$`)
}
