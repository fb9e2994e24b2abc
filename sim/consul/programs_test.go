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

var record = flag.Bool("record-answers", false,
	"write the answers of Consul's own agent, which this compiles, to testdata")

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

// How long sessions, lock-delays and blocking queries take, by Consul's own agent and by the servers of a world. What
// takes longer on a machine that stood still is measured again.
func TestTimesOfConsul(t *testing.T) {
	soak.Only(t, "it waits for the end of a session, for 20 s")
	real := startAgent(t)
	var want times
	inWorld(t, func(w world) {
		want = measure(t, func(method, path, body string) (int, string, error) {
			a := w.ask("consul2", method, path, body)
			return a.code, a.body, nil
		}, w.p.Clock().Now, w.sleep, w.p.Go)
	})
	const off = 500 * time.Millisecond
	var got times
	for range 3 {
		got = measure(t, real, time.Now, time.Sleep, func(f func()) { go f() })
		if near := func(a, b time.Duration) bool { return (a - b).Abs() <= off }; near(got.ttl, want.ttl) &&
			near(got.lockDelay, want.lockDelay) && near(got.woken, want.woken) && near(got.unchanged, want.unchanged) {
			t.Logf("Consul %+v, ours %+v", got, want)
			return
		}
	}
	t.Errorf("Consul takes %+v, the servers of a world %+v", got, want)
}

// times are how long something took.
type times struct {
	ttl       time.Duration // a session with a TTL of 10 s, until it is gone
	lockDelay time.Duration // a lock-delay of 2 s, until the key can be acquired again
	woken     time.Duration // a blocking read of 5 s, while the key changes after a second
	unchanged time.Duration // a blocking read of 5 s, while a write after a second changes nothing
}

func measure(
	t *testing.T, ask consulprograms.Ask, now func() time.Time, sleep func(time.Duration), start func(func()),
) (m times) {
	t.Helper()
	must := func(method, path, body string) string {
		_, answer, err := ask(method, path, body)
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(answer)
	}
	session := func(body string) string {
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(must("PUT", "/v1/session/create", body)), &made); err != nil {
			t.Error(err)
		}
		return made.ID
	}
	until := func(done func() bool) time.Duration {
		for began := now(); ; sleep(20 * time.Millisecond) {
			if took := now().Sub(began); done() || took > time.Minute {
				return took
			}
		}
	}
	ended := session(`{"TTL": "10s"}`)
	m.ttl = until(func() bool { return must("GET", "/v1/session/info/"+ended, "") == "[]" })

	first, second := session(`{"LockDelay": "2s"}`), session(`{}`)
	must("PUT", "/v1/kv/timed?acquire="+first, "")
	must("PUT", "/v1/session/destroy/"+first, "")
	m.lockDelay = until(func() bool { return must("PUT", "/v1/kv/timed?acquire="+second, "") == "true" })

	read := func(value string) time.Duration {
		must("PUT", "/v1/kv/read", "a")
		var pairs []pair
		if err := json.Unmarshal([]byte(must("GET", "/v1/kv/read", "")), &pairs); err != nil || len(pairs) != 1 {
			t.Errorf("%v, %v", pairs, err)
			return 0
		}
		start(func() { sleep(time.Second); must("PUT", "/v1/kv/read", value) })
		began := now()
		must("GET", fmt.Sprint("/v1/kv/read?wait=5s&index=", pairs[0].ModifyIndex), "")
		return now().Sub(began)
	}
	m.woken, m.unchanged = read("b"), read("a")
	return m
}

// startReal starts Consul's own agent, which plays the program of a seed.
func startReal(t *testing.T) func(seed uint64) []string {
	t.Helper()
	ask := startAgent(t)
	return func(seed uint64) []string {
		lines, err := consulprograms.Play(seed, ask)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
}

// startAgent compiles and starts Consul's own agent, and waits until it makes sessions.
func startAgent(t *testing.T) consulprograms.Ask {
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
	return ask
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
