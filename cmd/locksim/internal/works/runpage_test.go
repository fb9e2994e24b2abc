package works

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/roster"
	"locksim/lock/fence"
	"locksim/scenarios/file"
)

// A run that differs when it is repeated has no report.
func TestPageConfirms(t *testing.T) {
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	c := &console.Console{Program: "mysim"}
	job := runPageJob{File: sc.File, Source: string(sc.Source), Lock: "single", Seed: 1,
		Modes: []fence.Mode{fence.None, fence.Seal}, Hashes: map[fence.Mode]string{}}
	made, err := runPage(c, roster.Roster{}, job)
	if err != nil || !bytes.Contains(made.HTML, []byte("each run made once")) {
		t.Fatalf("%v: without a known hash, the page must count one run", err)
	}
	job.Hashes[fence.None] = regexp.MustCompile(`<code>([0-9a-f]{64})</code>`).FindStringSubmatch(string(made.HTML))[1]
	if made, err = runPage(c, roster.Roster{}, job); err != nil ||
		!bytes.Contains(made.HTML, []byte("each run made twice, equal")) {
		t.Errorf("%v: with a known hash, the page must count two runs", err)
	}
	job.Hashes[fence.None] = strings.Repeat("0", 64)
	if _, err = runPage(c, roster.Roster{}, job); err == nil ||
		!strings.Contains(err.Error(), "not deterministic: in mode none") {
		t.Errorf("got %v", err)
	}
	job.Lock = "nolock"
	if _, err = runPage(c, roster.Roster{}, job); err == nil {
		t.Error("there is no such lock")
	}
}
