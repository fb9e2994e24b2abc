package fences_test

import (
	"bytes"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock/broken/fencebroken"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/scene"
	"locksim/scenarios/fences"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
)

const fourRequests = `name: four
world: {redis: 1, clients: 3}
lock: {kind: ledger, ttl: 2s, backoff: 1s..2s}
store: broken/four-requests
workload: {kind: late, rounds: 6, hold: 500ms, think: 500ms}
`

// The story of a fence that is wrong has the tokens and the answers of the writes, and the requests between which it
// gave the wrong answer; the picture has its answers in place of the store s0, and shows those requests at the moment.
func TestStoryOfAWrongFence(t *testing.T) {
	s, err := fencebroken.Find("four-requests")
	if err != nil {
		t.Fatal(err)
	}
	sc, err := file.Parse("four.yaml", []byte(fourRequests))
	if err != nil {
		t.Fatal(err)
	}
	var o *outcome.Outcome
	for seed := uint64(1); ; seed++ {
		if seed > 100 {
			t.Fatal("no run of 100 shows the mistake")
		}
		if o, err = play.Run(sc, fences.Wrong(s).Subject(), play.RunOptions{Seed: seed}); err != nil {
			t.Fatal(err)
		}
		if o.Modes[0].Verdict.Label == checker.Corrupted {
			break
		}
	}
	m := &o.Modes[0]
	var text strings.Builder
	for _, l := range m.Story {
		text.WriteString(l.Actor + " " + l.Text + "\n")
	}
	for _, want := range []string{" with token ", " is stored\n", " is refused\n", " — the wrong answer\n",
		"r0 carries out, for c0: get order:value:token → ", "r0 carries out, for c1: set order:value:token "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the story lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "client setinfo") || strings.Contains(text.String(), "led0") {
		t.Errorf("the story has requests that are none of the store:\n%s", text.String())
	}
	if happened := outcome.Answers(o)[1].Text; !strings.Contains(happened, "requests that led to it are in the story") {
		t.Errorf("what happened: %s", happened)
	}
	if got := scene.Remarks(o); len(got) != 1 || !strings.HasSuffix(got[0], "of fence broken/four-requests.") {
		t.Errorf("remarks: %q", got)
	}
	var page bytes.Buffer
	if err := html.Run(&page, o, reports.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := page.String(); !strings.Contains(got, "<b>fence broken/four-requests</b>") ||
		strings.Contains(got, "lock <b>") || !strings.Contains(got, `"store":null`) {
		t.Error("the page does not say that a fence is judged, or has the store s0")
	}
	picture := scene.New(m)
	lanes := picture.Lanes()
	if last := lanes[len(lanes)-1]; last.Name != scene.FenceLane || picture.LaneKind("s0") != "" {
		t.Errorf("the last lane is %v", last)
	}
	kinds := map[scene.MarkKind]int{}
	for _, mark := range picture.Marks() {
		if mark.Lane == scene.FenceLane {
			kinds[mark.Kind]++
		}
	}
	if kinds[scene.MarkStale] != 1 || kinds[scene.MarkTaken] == 0 || kinds[scene.MarkRefused] == 0 ||
		kinds[scene.MarkRead] == 0 {
		t.Errorf("the answers in the picture: %v", kinds)
	}
	if first, last := m.Answered(); picture.Fatal != int(last) || picture.Focus().Start != picture.At(first) {
		t.Errorf("the moment is %+v, step %d; want from step %d to step %d", *picture.Focus(), picture.Fatal, first, last)
	}
}
