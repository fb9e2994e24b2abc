package page_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/overlay"
	"locksim/internal/playground"
	"locksim/internal/playground/page"
	"locksim/internal/soak"
)

// The page has the engine in pieces that are whole when they are put together, and asks for nothing.
func TestThePageHasAllThatItNeeds(t *testing.T) {
	program := bytes.Repeat([]byte("a program that is longer than a piece "), 100_000)
	for i := range program {
		program[i] += byte(i * i >> 7) // so that it does not shrink to nothing
	}
	b, err := page.Make(&page.Engine{Program: program, Glue: "const s = '</script>';"}, page.Options{Front: "index.html"})
	if err != nil {
		t.Fatal(err)
	}
	var packed []byte
	pieces := regexp.MustCompile(`engine\("([^"]*)", \d+\)`).FindAllSubmatch(b, -1)
	for _, m := range pieces {
		piece, err := base64.StdEncoding.DecodeString(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, piece...)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, program) || len(pieces) < 2 {
		t.Errorf("%d bytes in %d pieces, want %d bytes in several: %v", len(got), len(pieces), len(program), err)
	}
	if left := regexp.MustCompile(`\{\{[A-Z_]+\}\}`).Find(b); left != nil {
		t.Errorf("the page still has %s", left)
	}
	if bytes.Contains(b, []byte("'</script>'")) {
		t.Error("the glue ends its script")
	}
	if out := regexp.MustCompile(`(?:src|href)="(?:https?:)?//[^"]*"`).Find(b); out != nil {
		t.Errorf("the page refers to %s", out)
	}
}

// run plays requests in Node, with the engine that is given, and prints the hashes of the runs.
const run = `
const fs = require("fs");
globalThis.fs = fs; globalThis.path = require("path");
eval(fs.readFileSync(process.argv[3], "utf8"));
const go = new Go();
WebAssembly.instantiate(fs.readFileSync(process.argv[2]), go.importObject).then(async ({ instance }) => {
  go.run(instance);
  const hashes = [];
  for (const request of JSON.parse(fs.readFileSync(process.argv[4], "utf8"))) {
    const answer = JSON.parse(await new Promise((done) => locksim("play", JSON.stringify(request), (_, text) => done(text))));
    hashes.push(answer.problem ? [answer.problem.text] : answer.modes.map((m) => m.label + " " + m.hash));
  }
  console.log(JSON.stringify(hashes));
  process.exit(0);
});`

// compared are stories, each with its own lock, in which clients meet all errors of the network, clocks, scripts and
// restarts.
var compared = []string{
	"failover-before-replication", "gc-pause", "redlock-clock-jump", "split-brain", "lost-reply", "late-packet",
	"del-without-owner",
	"watchdog-bare-expire", "token-after-lock", "stale-write-first", "process-crash-everysec", "holder-crash",
	"partition-holder",
	"redlock-restart", "redlock-dead-node", "pool-exhausted", "release-while-loading", "wall-clock-jump",
	"reentrant-expiry", "script-flush",
	"torn-by-crash", "lock-key-evicted", "release-retried", "wait-cancelled",
}

// Stories of the library have the same traces in Node as here.
func TestTheTracesAreThoseOfThisMachine(t *testing.T) {
	soak.Only(t, "it builds the engine for js/wasm, and plays stories there")
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	engine, err := page.Build(context.Background(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	installed, err := overlay.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !installed.Cached() && bytes.Contains(engine.Program, []byte("crypto/x509.")) {
		t.Error("the engine has certificates: crypto/tls is not replaced")
	}
	menu, err := playground.NewMenu()
	if err != nil {
		t.Fatal(err)
	}
	var requests []playground.Request
	for _, name := range compared {
		i := slices.IndexFunc(menu.Stories, func(s playground.Story) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("there is no story %s", name)
		}
		requests = append(requests, playground.Request{Source: menu.Stories[i].Source, Seed: 1})
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	asked, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, write("run.cjs", []byte(run)), write("engine.wasm", engine.Program),
		write("glue.js", []byte(engine.Glue)), write("requests.json", asked))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	hashes := 0
	for i, name := range compared {
		var want []string
		for _, m := range playground.Play(requests[i]).Modes {
			want = append(want, string(m.Label)+" "+m.Hash)
		}
		if strings.Join(got[i], "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: in Node\n%s\nhere\n%s", name, strings.Join(got[i], "\n"), strings.Join(want, "\n"))
		}
		hashes += len(want)
	}
	t.Logf("%d hashes of %d stories compared; the engine has %d bytes", hashes, len(compared), len(engine.Program))
}
