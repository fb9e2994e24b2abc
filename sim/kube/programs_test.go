package kube_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/kubeprograms"
	"locksim/internal/soak"
	"locksim/sim"
	"locksim/sim/kube"
)

var record = flag.Bool("record-answers", false,
	"write the answers of Kubernetes' own handlers, which this compiles, to testdata")

// The number of programs whose answers are in testdata/answers.json.
const recorded = 40

// modelled are the lines of a program that is played in a world.
func modelled(t *testing.T, seed uint64) (lines []string) {
	t.Helper()
	kinds := []sim.Kind{kube.APIServers(1), kube.Stores(1)}
	_, err := sim.Run(sim.Config{Seed: 1, Clients: 1, Servers: kinds}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return p.Dial(ctx, network, p.Address("api0"))
			}}
			p.OnEnd(transport.CloseIdleConnections)
			var err error
			if lines, err = kubeprograms.Play(seed, asker(&http.Client{Transport: transport}, "http://api0")); err != nil {
				t.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func asker(c *http.Client, base string) kubeprograms.Ask {
	return func(method, path, contentType, body string) (code int, answer string, err error) {
		q, err := http.NewRequest(method, base+path, bytes.NewBufferString(body))
		if err != nil {
			return 0, "", err
		}
		q.Header.Set("Content-Type", contentType)
		q.Header.Set("Accept", "application/json")
		r, err := c.Do(q)
		if err != nil {
			return 0, "", err
		}
		defer func() { _ = r.Body.Close() }()
		text, err := io.ReadAll(r.Body)
		return r.StatusCode, string(text), err
	}
}

// Kubernetes' own handlers and registry (1.37.2) gave the answers in testdata, which -record-answers makes anew: the
// simulated API server gives the same.
func TestAnswersOfKubernetes(t *testing.T) {
	const path = "testdata/answers.json"
	if *record {
		ask := startReal(t)
		var all [][]string
		for seed := range uint64(recorded) {
			all = append(all, played(t, seed, ask))
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
			t.Errorf("program %d (-Kubernetes +ours):\n%s", seed, cmp.Diff(want, got))
		}
	}
}

// Fresh programs, on Kubernetes' own handlers and in a world.
func TestBesideKubernetes(t *testing.T) {
	soak.Only(t, "it compiles the handlers of Kubernetes, which takes minutes the first time")
	ask := startReal(t)
	for seed := range uint64(300) {
		seed += 1000
		if want, got := played(t, seed, ask), modelled(t, seed); !slices.Equal(got, want) {
			t.Errorf("program %d (-Kubernetes +ours):\n%s", seed, cmp.Diff(want, got))
		}
	}
}

func played(t *testing.T, seed uint64, ask kubeprograms.Ask) []string {
	t.Helper()
	lines, err := kubeprograms.Play(seed, ask)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// startReal starts an etcd and the handlers over it.
func startReal(t *testing.T) kubeprograms.Ask {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "realkube")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = "../../internal/realkube"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	client, peer := "http://"+freeAddress(t), "http://"+freeAddress(t)
	etcd := exec.Command("etcd", "--data-dir", t.TempDir(), "--log-level", "error", "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default="+peer)
	if err := etcd.Start(); err != nil {
		t.Fatalf("start etcd, of Debian's package etcd-server: %v", err)
	}
	t.Cleanup(func() {
		_ = etcd.Process.Kill()
		_ = etcd.Wait()
	})
	cmd := exec.Command(bin, "-etcd", client)
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
		t.Fatalf("the handlers of Kubernetes do not start: %v", err)
	}
	ask := asker(http.DefaultClient, "http://"+strings.TrimSpace(address))
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) { // until the cache is there
		code, answer, err := ask("GET", "/apis/coordination.k8s.io/v1/namespaces/none/leases", "application/json", "")
		if err == nil && code == http.StatusOK {
			return ask
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("the handlers of Kubernetes do not serve: %d %s, %v", code, answer, err)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
