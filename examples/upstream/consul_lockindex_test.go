package upstream

import (
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// TestShowsConsulLockIndex shows that a plain PUT to the key of a lock sets its LockIndex back to 0, so that two grants
// have one number.
func TestShowsConsulLockIndex(t *testing.T) {
	t.Parallel()
	path := program(t, "consul", "install Consul 1.14 or later: https://developer.hashicorp.com/consul/install")
	a := startConsul(t, path)
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

func startConsul(t *testing.T, path string) agent {
	t.Helper()
	addr := startOnPort(t, func(p string) *exec.Cmd {
		return exec.Command(path, "agent", "-dev", "-bind=127.0.0.1", "-http-port="+p,
			"-dns-port=-1", "-grpc-port=-1", "-grpc-tls-port=-1", "-serf-lan-port="+freePort(t), "-serf-wan-port=-1",
			"-server-port="+freePort(t))
	}, func(addr string) bool {
		answer, err := http.Get("http://" + addr + "/v1/status/leader")
		if err != nil {
			return false
		}
		defer func() { _ = answer.Body.Close() }()
		leader, err := io.ReadAll(answer.Body)
		return err == nil && len(leader) > len(`""`)
	})
	return agent{"http://" + addr}
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
