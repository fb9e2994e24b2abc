package consul_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/consulprograms"
	"locksim/internal/soak"
)

var record = flag.Bool("record-answers", false, "write the answers of Consul's own agent, which this compiles, to testdata")

// The programs whose answers are in testdata/answers.json.
const recorded = 30

// modelled are the lines of a program that is played in a world, by the server that leads.
func modelled(t *testing.T, seed uint64) (lines []string) {
	t.Helper()
	inWorld(t, func(w world) {
		var err error
		lines, err = consulprograms.Play(seed, func(method, path, body string) (int, string, error) {
			a := w.ask("consul2", method, path, body)
			return a.code, a.body, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	return lines
}

// Consul's own agent (1.14.11) gave the answers in testdata, which -record-answers makes anew: the simulated server
// gives the same.
func TestAnswersOfConsul(t *testing.T) {
	const path = "testdata/answers.json"
	if *record {
		real := startReal(t)
		var all [][]string
		for seed := range uint64(recorded) {
			all = append(all, real(seed))
		}
		b, err := json.MarshalIndent(all, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != recorded {
		t.Fatalf("%s has %d programs, want %d", path, len(all), recorded)
	}
	for seed, want := range all {
		if got := modelled(t, uint64(seed)); !slices.Equal(got, want) {
			t.Errorf("program %d (-Consul +ours):\n%s", seed, cmp.Diff(want, got))
		}
	}
}

// Fresh programs, on Consul's own agent and in a world: 400 with LOCKSIM_SOAK=1.
func TestBesideConsul(t *testing.T) {
	soak.Only(t, "it compiles Consul's agent, which takes minutes the first time")
	real := startReal(t)
	for seed := range uint64(400) {
		seed += 1000
		if want, got := real(seed), modelled(t, seed); !slices.Equal(got, want) {
			t.Errorf("program %d (-Consul +ours):\n%s", seed, cmp.Diff(want, got))
		}
	}
}

// startReal starts Consul's own agent, which plays the program of a seed.
func startReal(t *testing.T) func(seed uint64) []string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "realconsul")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = "../../internal/realconsul"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(bin)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("Consul's agent does not start: %v", err)
	}
	base := "http://" + strings.TrimSpace(address)
	ask := func(method, path, body string) (code int, answer string, err error) {
		q, err := http.NewRequest(method, base+path, bytes.NewBufferString(body))
		if err != nil {
			return 0, "", err
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			return 0, "", err
		}
		defer func() { _ = r.Body.Close() }()
		text, err := io.ReadAll(r.Body)
		return r.StatusCode, string(text), err
	}
	awaitSessions(t, ask)
	return func(seed uint64) []string {
		lines, err := consulprograms.Play(seed, ask)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
}

// awaitSessions waits until the agent leads, and its node is there with its check.
func awaitSessions(t *testing.T, ask consulprograms.Ask) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		code, answer, err := ask(http.MethodPut, "/v1/session/create", "")
		if err == nil && code == http.StatusOK {
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatal(fmt.Errorf("Consul's agent makes no session: %d %s, %w", code, answer, err))
		}
	}
}
