package consul_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/consul"
)

// The answers of one server are those of Consul's own agent, which TestAnswersOfConsul plays. What these tests have
// beyond, times, elections and failed nodes, is by the sentences of Consul's documentation. Their comments name the
// page, and say in other words what it says: "Session" and "KV" are the pages of the HTTP API, "Blocking" and
// "Consistency" its pages of features, "Sessions" the overview of sessions and distributed locks, "Agent" the
// configuration.

// world is a cluster of three, and a client.
type world struct {
	*sim.World
	t *testing.T
	p *sim.Process
}

// inWorld runs f in a process of a world. consul2 leads.
func inWorld(t *testing.T, f func(w world)) {
	t.Helper()
	cfg := sim.Config{Seed: 1, Clients: 1, Servers: []sim.Kind{consul.Cluster(3)}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { f(world{w, t, p}) })
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// after lets the world do something after a time, since faults are for its goroutine.
func (w world) after(d time.Duration, f func(f *sim.Faults) error) {
	w.At(w.Now()+d, func() {
		if err := f(w.Faults()); err != nil {
			w.t.Error(err)
		}
	})
}

// cut cuts one server off from the others for a minute.
func cut(one string, others ...string) faults.Partition {
	return faults.Partition{Between: []string{one}, And: others, For: time.Minute, Bytes: faults.BytesDrop}
}

func (w world) sleep(d time.Duration) { _ = w.p.Clock().Sleep(w.p.Context(), d) }

// pair is a key, as the HTTP API shows it.
type pair struct {
	Key, Session                        string
	Value                               []byte
	Flags                               uint64
	LockIndex, CreateIndex, ModifyIndex uint64
}

// answer is what a server answered.
type answer struct {
	code  int
	index uint64
	head  http.Header
	body  string
	took  time.Duration
}

// ask asks a server, on a connection of its own.
func (w world) ask(server, method, path, body string) answer {
	w.t.Helper()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return w.p.Dial(ctx, network, w.p.Address(server))
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: dial}
	q, err := http.NewRequestWithContext(w.p.Context(), method, "http://"+server+path, bytes.NewBufferString(body))
	if err != nil {
		w.t.Fatal(err)
	}
	began := w.p.Clock().Now()
	r, err := transport.RoundTrip(q)
	if err != nil {
		w.t.Errorf("%s %s: %v", method, path, err)
		return answer{}
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Error(err)
	}
	index, _ := strconv.ParseUint(r.Header.Get("X-Consul-Index"), 10, 64)
	return answer{r.StatusCode, index, r.Header, string(text), w.p.Clock().Now().Sub(began)}
}

func (w world) put(path, body string) answer {
	w.t.Helper()
	return w.ask("consul0", "PUT", "/v1/"+path, body)
}

func (w world) get(path string) answer { w.t.Helper(); return w.ask("consul0", "GET", "/v1/"+path, "") }

// is expects an answer with the code 200.
func (w world) is(a answer, body string) {
	w.t.Helper()
	if a.code != http.StatusOK || a.body != body {
		w.t.Errorf("%d %s; want %s", a.code, a.body, body)
	}
}

// fails expects a code, and a word in the body.
func (w world) fails(a answer, code int, word string) {
	w.t.Helper()
	if a.code != code || !strings.Contains(a.body, word) {
		w.t.Errorf("%d %s; want %d with %q", a.code, a.body, code, word)
	}
}

// session makes one.
func (w world) session(body string) string {
	w.t.Helper()
	a := w.put("session/create", body)
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.code != http.StatusOK {
		w.t.Fatalf("create a session: %d %s", a.code, a.body)
	}
	return made.ID
}

// pair reads a key; nil if it is not there.
func (w world) pair(key string) *pair {
	w.t.Helper()
	a := w.get("kv/" + key)
	if a.code == http.StatusNotFound {
		return nil
	}
	var found []*pair
	if err := json.Unmarshal([]byte(a.body), &found); err != nil || len(found) != 1 {
		w.t.Fatalf("read %s: %d %s", key, a.code, a.body)
	}
	return found[0]
}

// there reports whether a session goes on.
func (w world) there(id string) bool { w.t.Helper(); return w.get("session/info/"+id).body != "[]" }

func TestSessions(t *testing.T) {
	inWorld(t, func(w world) {
		// Session, Create, TTL: between 10 s and 86400 s.
		w.fails(w.put("session/create", `{"TTL": "9s"}`), http.StatusInternalServerError, "Invalid Session TTL")
		w.fails(w.put("session/create", `{"TTL": "86401s"}`), http.StatusInternalServerError, "Invalid Session TTL")
		// Session, Create, Behavior: release and delete are valid, release is the default. LockDelay: 15 s is the
		// default.
		w.fails(w.put("session/create", `{"Behavior": "keep"}`), http.StatusInternalServerError, "Invalid Behavior")
		id := w.session(`{"Name": "n", "TTL": "10s"}`)
		var found []struct {
			ID, Name, Node, Behavior, TTL string
			LockDelay                     time.Duration
			NodeChecks                    []string
		}
		if err := json.Unmarshal([]byte(w.get("session/info/"+id).body), &found); err != nil || len(found) != 1 {
			w.t.Fatalf("%v: %v", found, err)
		}
		// Session, Create, Node: the default is the agent that is asked. Checks: serfHealth is the default. Read: the
		// sample.
		want := fmt.Sprint("{", id, " n consul0 release 10s 15s [serfHealth]}")
		if got := fmt.Sprint(found[0]); got != want {
			t.Errorf("the session is %s, want %s", got, want)
		}
		// Sessions: a lock-delay is between 0 and 60 seconds. Consul's agent keeps what it was asked for, and bounds it
		// when the session ends.
		long := w.session(`{"LockDelay": "90s"}`)
		if a := w.get("session/info/" + long); !strings.Contains(a.body, `"LockDelay":90000000000`) {
			t.Errorf("a lock-delay of 90s: %s", a.body)
		}
		w.is(w.put("kv/long?acquire="+long, ""), "true")
		w.is(w.put("session/destroy/"+long, ""), "true")
		w.sleep(59 * time.Second)
		w.is(w.put("kv/long?acquire="+w.session(`{}`), ""), "false")
		w.sleep(2 * time.Second)
		w.is(w.put("kv/long?acquire="+w.session(`{}`), ""), "true")
		// Session, Delete: an id that is not there is no error.
		w.is(w.put("session/destroy/x", ""), "true")
		w.is(w.put("session/destroy/"+id, ""), "true")
		w.is(w.put("session/destroy/"+id, ""), "true")
		// Session, Read: an empty list without the session. Renew: the client of Go takes 404 for its end.
		w.is(w.get("session/info/"+id), "[]")
		w.fails(w.put("session/renew/"+id, ""), http.StatusNotFound, "not found")
		// Sessions: an invalidated session can no longer be used.
		w.fails(w.put("kv/k?acquire="+id, ""), http.StatusInternalServerError, "invalid session")
	})
}

// Sessions: the TTL is a lower bound, and the end may come later. Session, Create, TTL: up to double the TTL. Renew:
// it extends the session by the TTL.
func TestTTL(t *testing.T) {
	inWorld(t, func(w world) {
		ended, renewed, forever := w.session(`{"TTL": "10s"}`), w.session(`{"TTL": "10s"}`), w.session(`{}`)
		for range 5 {
			w.sleep(9 * time.Second)
			a := w.put("session/renew/"+renewed, "")
			if a.code != http.StatusOK || !strings.Contains(a.body, `"TTL":"10s"`) {
				t.Errorf("renew: %d %s", a.code, a.body)
			}
			if now := w.Now(); now < 10*time.Second && !w.there(ended) {
				t.Errorf("the session has ended at %v", now)
			} else if now > 21*time.Second && w.there(ended) {
				t.Errorf("the session goes on at %v", now)
			}
		}
		if !w.there(renewed) || !w.there(forever) {
			t.Error("a session has ended that was renewed, or has no TTL")
		}
	})
}

// Sessions: release gives the locks up, and increments ModifyIndex; delete deletes the keys. The lock-delay keeps
// them from being acquired again; it can be 0. KV: LockIndex is not changed by a release.
func TestInvalidation(t *testing.T) {
	inWorld(t, func(w world) {
		release := w.session(`{"Behavior": "release", "LockDelay": "20s"}`)
		remove := w.session(`{"Behavior": "delete", "LockDelay": "0s"}`)
		next := w.session(`{}`)
		w.is(w.put("kv/a?acquire="+release, "v"), "true")
		w.is(w.put("kv/b?acquire="+remove, "v"), "true")
		before := w.pair("a")
		w.is(w.put("session/destroy/"+release, ""), "true")
		w.is(w.put("session/destroy/"+remove, ""), "true")
		after := w.pair("a")
		if after.Session != "" || after.ModifyIndex <= before.ModifyIndex || after.LockIndex != before.LockIndex ||
			string(after.Value) != "v" {
			t.Errorf("%+v has become %+v", before, after)
		}
		if b := w.pair("b"); b != nil {
			t.Errorf("the key is there: %+v", b)
		}
		w.is(w.put("kv/b?acquire="+next, ""), "true")
		w.is(w.put("kv/a?acquire="+next, ""), "false")
		w.sleep(18 * time.Second)
		w.is(w.put("kv/a?acquire="+next, ""), "false")
		w.sleep(2 * time.Second)
		w.is(w.put("kv/a?acquire="+next, ""), "true")
		// An ordinary release has no lock-delay.
		w.is(w.put("kv/a?release="+next, ""), "true")
		w.is(w.put("kv/a?acquire="+next, ""), "true")
	})
}

func TestKV(t *testing.T) {
	inWorld(t, func(w world) {
		// KV, Read: 404 without the key.
		w.fails(w.get("kv/k"), http.StatusNotFound, "")
		// KV, Create, cas: 0 puts the key only if it is not there; another index only if it is that of the key.
		w.is(w.put("kv/k?cas=0&flags=7", "1"), "true")
		w.is(w.put("kv/k?cas=0", "2"), "false")
		k := w.pair("k")
		w.is(w.put(fmt.Sprint("kv/k?cas=", k.ModifyIndex), "3"), "true")
		w.is(w.put(fmt.Sprint("kv/k?cas=", k.ModifyIndex), "4"), "false")
		now := w.pair("k")
		if string(now.Value) != "3" || k.Flags != 7 || now.CreateIndex != k.CreateIndex || now.LockIndex != 0 {
			t.Errorf("%+v has become %+v", k, now)
		}
		// KV, Create, acquire: LockIndex is incremented, and Session set; the key need not exist.
		first, second := w.session(`{}`), w.session(`{}`)
		w.is(w.put("kv/l?acquire="+first, "a"), "true")
		if l := w.pair("l"); l.LockIndex != 1 || l.Session != first || string(l.Value) != "a" {
			t.Errorf("acquired: %+v", l)
		}
		w.is(w.put("kv/l?acquire="+second, "b"), "false")
		// KV, Create, acquire: the holder may acquire again; LockIndex stays, and the contents are updated.
		w.is(w.put("kv/l?acquire="+first, "c"), "true")
		if l := w.pair("l"); l.LockIndex != 1 || string(l.Value) != "c" {
			t.Errorf("acquired again: %+v", l)
		}
		// KV, Create, acquire: an update without it goes on even if another session has the key. Consul's state store
		// 1.14.11: it sets the LockIndex to 0, also with cas.
		w.is(w.put("kv/l", "d"), "true")
		if l := w.pair("l"); l.LockIndex != 0 || l.Session != first || string(l.Value) != "d" {
			t.Errorf("updated: %+v", l)
		}
		w.is(w.put("kv/m?acquire="+first, "a"), "true")
		w.is(w.put(fmt.Sprint("kv/m?cas=", w.pair("m").ModifyIndex), "b"), "true")
		if m := w.pair("m"); m.LockIndex != 0 || m.Session != first {
			t.Errorf("updated with cas: %+v", m)
		}
		// There, a write that changes nothing moves no index.
		same := w.pair("m")
		w.is(w.put("kv/m", "b"), "true")
		w.is(w.put("kv/m?acquire="+first, "b"), "true")
		if m := w.pair("m"); m.ModifyIndex != same.ModifyIndex {
			t.Errorf("nothing has changed: %+v has become %+v", same, m)
		}
		// There, a checked DELETE of a key that is not there succeeds.
		w.is(w.ask("consul0", "DELETE", "/v1/kv/none?cas=0", ""), "true")
		w.is(w.ask("consul0", "DELETE", "/v1/kv/none?cas=3", ""), "true")
		w.is(w.ask("consul0", "DELETE", "/v1/kv/m?cas=0", ""), "false")
		// KV, Create, release: the key must be held by the session; LockIndex stays, Session is cleared.
		w.is(w.put("kv/l?release="+second, ""), "false")
		held := w.pair("l")
		w.is(w.put("kv/l?release="+first, ""), "true")
		if l := w.pair("l"); l.LockIndex != 0 || l.Session != "" || l.ModifyIndex <= held.ModifyIndex {
			t.Errorf("released: %+v", l)
		}
		w.is(w.put("kv/l?release="+first, ""), "false")
		w.is(w.put("kv/l?acquire="+second, ""), "true")
		if l := w.pair("l"); l.LockIndex != 1 {
			t.Errorf("acquired by another: %+v", l)
		}
		// KV, Read: recurse is for a prefix, and its index is the latest within the prefix. Delete: cas=0 does
		// nothing.
		w.is(w.put("kv/p/a", ""), "true")
		w.is(w.put("kv/p/b", ""), "true")
		b := w.pair("p/b")
		w.is(w.put("kv/q", ""), "true")
		a := w.get("kv/p/?recurse=")
		if a.index != b.ModifyIndex || !strings.Contains(a.body, `"p/a"`) || strings.Contains(a.body, `"q"`) {
			t.Errorf("index %d, want %d, of %s", a.index, b.ModifyIndex, a.body)
		}
		w.is(w.ask("consul0", "DELETE", "/v1/kv/p/a?cas=0", ""), "false")
		w.is(w.ask("consul0", "DELETE", fmt.Sprint("/v1/kv/p/b?cas=", b.ModifyIndex-1), ""), "false")
		w.is(w.ask("consul0", "DELETE", fmt.Sprint("/v1/kv/p/b?cas=", b.ModifyIndex), ""), "true")
		w.is(w.ask("consul0", "DELETE", "/v1/kv/?recurse=", ""), "true")
		w.fails(w.get("kv/?recurse="), http.StatusNotFound, "")
		// KV, Create: acquire, release and cas exclude each other; what these servers do not have is refused.
		w.fails(w.put("kv/l?cas=0&acquire="+first, ""), http.StatusBadRequest, "Conflicting")
		w.fails(w.get("catalog/nodes"), http.StatusNotFound, "the Consul of locksim")
	})
}

func TestBlocking(t *testing.T) {
	inWorld(t, func(w world) {
		w.is(w.put("kv/k", "1"), "true")
		index := w.get("kv/k").index
		// Blocking: it hangs until a change, which may be any that the index counts.
		w.p.Go(func() {
			w.sleep(30 * time.Second)
			w.is(w.put("kv/other", ""), "true")
			w.sleep(10 * time.Second)
			w.is(w.put("kv/k", "2"), "true")
		})
		a := w.get(fmt.Sprint("kv/k?index=", index))
		if a.took < 40*time.Second || a.took > 41*time.Second || a.index <= index {
			t.Errorf("it took %v, index %d", a.took, a.index)
		}
		// An index that is over is answered at once.
		if a := w.get(fmt.Sprint("kv/k?index=", index)); a.took > time.Second {
			t.Errorf("it took %v", a.took)
		}
		// Blocking: wait, 5 minutes without it, 10 minutes at most, and up to a sixteenth more.
		for wait, want := range map[string]time.Duration{
			"&wait=16s": 16 * time.Second, "": 5 * time.Minute, "&wait=20m": 10 * time.Minute,
		} {
			b := w.get(fmt.Sprint("kv/k?index=", a.index, wait))
			if b.took < want || b.took > want+want/16+time.Second || b.index != a.index || b.code != http.StatusOK {
				t.Errorf("wait %q: it took %v, index %d, %d", wait, b.took, b.index, b.code)
			}
		}
		// A key that is not there is waited for too.
		w.p.Go(func() { w.sleep(20 * time.Second); w.is(w.put("kv/new", ""), "true") })
		a = w.get(fmt.Sprint("kv/new?index=", w.get("kv/new").index))
		if a.code != http.StatusOK || a.took < 19*time.Second {
			t.Errorf("it took %v: %d", a.took, a.code)
		}
		w.fails(w.get("kv/k?index=x"), http.StatusBadRequest, "Invalid index")
		w.fails(w.get("kv/k?wait=x"), http.StatusBadRequest, "Invalid wait")
	})
}

// Consistency: stale lets any server answer, also one without a leader; results are within 50 ms of the leader's.
// default is that of the leader, consistent needs a majority. Headers say how stale an answer may be, and its mode.
func TestConsistency(t *testing.T) {
	inWorld(t, func(w world) {
		w.is(w.put("kv/k", "1"), "true")
		if a := w.get("kv/k?stale="); a.code != http.StatusNotFound {
			t.Errorf("a follower knows at once: %s", a.body)
		}
		w.sleep(50 * time.Millisecond)
		a := w.get("kv/k?stale=")
		if a.code != http.StatusOK || a.head.Get("X-Consul-Effective-Consistency") != "stale" ||
			a.head.Get("X-Consul-Knownleader") != "true" {
			t.Errorf("stale: %d %v", a.code, a.head)
		}
		a = w.get("kv/k")
		if a.head.Get("X-Consul-Effective-Consistency") != "leader" || a.head.Get("X-Consul-Lastcontact") != "0" {
			t.Errorf("default: %v", a.head)
		}
		w.fails(w.get("kv/k?stale=&consistent="), http.StatusBadRequest, "Cannot specify")

		// The follower is cut off from the others, and a key is written.
		w.after(time.Second, func(f *sim.Faults) error {
			return f.Cut(cut("consul0", "consul1", "consul2"))
		})
		w.sleep(2 * time.Second)
		w.is(w.ask("consul1", "PUT", "/v1/kv/k", "2"), "true")
		w.sleep(20 * time.Second)
		a = w.get("kv/k?stale=")
		if a.code != http.StatusOK || !strings.Contains(a.body, `"MQ=="`) || a.head.Get("X-Consul-Knownleader") != "false" {
			t.Errorf("stale, without a leader: %d %s %v", a.code, a.body, a.head)
		}
		// Agent, rpc_hold_timeout: a request waits for a leader for 7 s.
		for _, mode := range []string{"", "?consistent="} {
			a := w.get("kv/k" + mode)
			w.fails(a, http.StatusInternalServerError, "No cluster leader")
			if a.took < 6*time.Second || a.took > 9*time.Second {
				t.Errorf("it took %v", a.took)
			}
		}
		w.sleep(time.Minute)
		if a := w.get("kv/k?consistent="); !strings.Contains(a.body, `"Mg=="`) {
			t.Errorf("after the cut: %d %s", a.code, a.body)
		}
	})
}

// Consistency: a leader that is cut off from the majority may answer in default mode for a small window, and never in
// consistent mode.
func TestDeposedLeader(t *testing.T) {
	inWorld(t, func(w world) {
		w.is(w.put("kv/k", "1"), "true")
		w.after(time.Second, func(f *sim.Faults) error {
			return f.Cut(cut("consul2", "consul0", "consul1"))
		})
		w.sleep(2 * time.Second)
		if a := w.ask("consul2", "GET", "/v1/kv/k", ""); a.code != http.StatusOK {
			t.Errorf("default: %d %s", a.code, a.body)
		}
		a := w.ask("consul2", "GET", "/v1/kv/k?consistent=", "")
		w.fails(a, http.StatusInternalServerError, "No cluster leader")
		w.fails(w.ask("consul2", "PUT", "/v1/kv/k", "3"), http.StatusInternalServerError, "No cluster leader")
		w.is(w.put("kv/k", "2"), "true") // the others have elected another one
	})
}

// Sessions: the TTL is renewed on leader failover.
func TestLeaderChangeRenews(t *testing.T) {
	inWorld(t, func(w world) {
		id := w.session(`{"TTL": "10s"}`) // on consul0, and would end by 20 s
		w.after(15*time.Second, func(f *sim.Faults) error { return f.Crash("consul2", faults.CrashProcess) })
		w.sleep(40 * time.Second) // a new leader comes by 26 s
		if !w.there(id) {
			t.Error("the session has ended with the time of the old leader")
		}
		w.sleep(10 * time.Second)
		if w.there(id) {
			t.Error("the session goes on after twice its TTL")
		}
	})
}

// Sessions: a health check that goes critical invalidates the session; serfHealth is that of the node, and the
// failure detector finds that the node has failed. What is agreed on survives the crash of a server.
func TestFailedNode(t *testing.T) {
	inWorld(t, func(w world) {
		id, other := w.session(`{}`), ""
		// As CreateNoChecks of the Go client asks for it, and as before Consul 1.7.
		unchecked := []string{w.session(`{"NodeChecks": []}`), w.session(`{"Checks": []}`)}
		w.is(w.put("kv/k?acquire="+id, "v"), "true")
		w.after(time.Second, func(f *sim.Faults) error { return f.Crash("consul0", faults.CrashPower) })
		w.after(20*time.Second, func(f *sim.Faults) error { return f.Restart("consul0") })
		w.sleep(9 * time.Second)
		if a := w.ask("consul1", "GET", "/v1/session/info/"+id, ""); a.body != "[]" {
			t.Errorf("the session goes on without its node: %s", a.body)
		}
		for _, id := range unchecked {
			if a := w.ask("consul1", "GET", "/v1/session/info/"+id, ""); a.body == "[]" {
				t.Error("a session without checks has ended with its node")
			}
		}
		w.sleep(20 * time.Second)
		other = w.session(`{}`) // the node is back
		if k := w.pair("k"); k == nil || k.Session != "" || string(k.Value) != "v" {
			t.Errorf("the key is %+v", k)
		}
		w.is(w.put("kv/k?acquire="+other, "v"), "true")
	})
}
