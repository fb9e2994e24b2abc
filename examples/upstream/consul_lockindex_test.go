package upstream

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestShowsConsulLockIndex shows that a plain PUT to the key of a lock sets its LockIndex back to 0, so that two grants
// have one number.
func TestShowsConsulLockIndex(t *testing.T) {
	t.Parallel()
	a := startConsul(t)
	first, second := a.session(t), a.session(t)
	numbers := []int{a.write(t, "?acquire="+first)}
	a.write(t, "?release="+first)
	numbers = append(numbers, a.write(t, "?acquire="+first))
	written := a.write(t, "")
	a.write(t, "?release="+first)
	numbers = append(numbers, a.write(t, "?acquire="+second))
	if written != 0 || numbers[2] > numbers[1] {
		t.Fatalf("mended? the grants have the LockIndex %d, and after a plain PUT it was %d", numbers, written)
	}
	t.Logf("the grants have the LockIndex %d: a plain PUT before the last one made it %d", numbers, written)
}

// agent is a Consul agent in development mode.
type agent struct{ url string }

// startConsul compiles and starts Consul's own agent, 1.14.11.
func startConsul(t *testing.T) agent {
	t.Helper()
	path := filepath.Join(t.TempDir(), "realconsul")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir = "../../internal/realconsul"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(path)
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
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("Consul's agent does not start")
	}
	a := agent{"http://" + strings.TrimSpace(addr)}
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if leads := a.leads(); leads {
			return a
		}
		if time.Since(began) > time.Minute {
			t.Fatal("Consul's agent elects no leader")
		}
	}
}

// leads reports whether the agent makes sessions.
func (a agent) leads() bool {
	r, err := http.NewRequest(http.MethodPut, a.url+"/v1/session/create", http.NoBody)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode == http.StatusOK
}

// session makes a session, and returns its id.
func (a agent) session(t *testing.T) string {
	t.Helper()
	var made struct{ ID string }
	a.do(t, http.MethodPut, "/v1/session/create", `{"LockDelay": "0s"}`, &made)
	return made.ID
}

// write puts a value into the key, and returns the LockIndex that it has then.
func (a agent) write(t *testing.T, query string) int {
	t.Helper()
	const key = "/v1/kv/order"
	var done bool
	if a.do(t, http.MethodPut, key+query, "value", &done); !done {
		t.Fatalf("PUT %s%s was refused", key, query)
	}
	var found []struct{ LockIndex int }
	a.do(t, http.MethodGet, key, "", &found)
	return found[0].LockIndex
}

// do makes a request, and reads its answer.
func (a agent) do(t *testing.T, method, path, body string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatalf("%s %s: %s: %v", method, path, answer.Status, err)
	}
}
