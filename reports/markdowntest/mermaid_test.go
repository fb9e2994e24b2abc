package markdowntest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/redislocks"
)

// The kinds of messages in mermaid that a check looks for.
const (
	mermaidNote = 2
	mermaidAlt  = 12
)

// mermaid parses the diagrams of every scenario of the library, and of the gallery.
func TestMermaidParsesEveryStory(t *testing.T) {
	var names, diagrams []string
	pages, err := filepath.Glob("../gallery/[0-9]*.md")
	if err != nil || len(pages) != 13 {
		t.Fatalf("%d pages in the gallery, want 13: %v", len(pages), err)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		names, diagrams = append(names, page), append(diagrams, diagram(t, string(b)))
	}
	all, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		all = all[:5]
	}
	for _, sc := range all {
		o := played(t, sc, fence.None, fence.Claim)
		names, diagrams = append(names, sc.Name), append(diagrams, diagram(t, rendered(t, o, reports.Options{})))
	}
	for i, got := range parsed(t, diagrams...) {
		if got.Error != "" || got.Type != "sequence" || len(got.Messages) == 0 {
			t.Errorf("%s: %s %s\n%s", names[i], got.Type, got.Error, diagrams[i])
		}
	}
}

// The parsed diagram has the messages of the story in order, with sender and receiver,
// and the branches where the modes diverge.
func TestMermaidUnderstands(t *testing.T) {
	o := played(t, loaded(t, "gc-pause"), fence.None, fence.Check)
	got := parsed(t, diagram(t, rendered(t, o, reports.Options{})))[0]
	if want := []string{"c0", "c1", "r0", "s0"}; !slices.Equal(got.Actors, want) {
		t.Errorf("actors %v, want %v: %s", got.Actors, want, got.Error)
	}
	wants := []struct {
		kind           int
		from, to, text string
	}{
		{0, "c0", "r0", "lock grant, fenced"},
		{mermaidNote, "c0", "c0", "is granted order token=1"},
		{mermaidNote, "c0", "c0", "PAUSED for 15s"},
		{mermaidNote, "r0", "r0", "lock:{order} expires"},
		{mermaidNote, "c1", "c1", "is granted order token=2"},
		{0, "c1", "s0", "write c1.w2 (token 2)"},
		{0, "c0", "s0", "write c0.w2 (token 1)"},
		{mermaidAlt, "", "", "mode none"},
		{1, "s0", "c0", "taken"},
		{mermaidNote, "s0", "s0", "it broke here: a stale"},
		{1, "s0", "c0", "REFUSED: token "},
		{mermaidNote, "s0", "s0", "the fence held here"},
	}
	for _, m := range got.Messages {
		if w := wants[0]; m.Type == w.kind && m.From == w.from && m.To == w.to &&
			strings.Contains(strings.ReplaceAll(m.Text, "<br/>", " "), w.text) {
			if wants = wants[1:]; len(wants) == 0 {
				return
			}
		}
	}
	t.Errorf("the diagram lacks, in this order, %+v", wants[0])
}

// A hostile text stays a text: the diagram has the same participants as without it.
func TestMermaidOfHostileTexts(t *testing.T) {
	plain := diagram(t, rendered(t, played(t, loaded(t, "gc-pause"), fence.None, fence.Check, fence.Seal),
		reports.Options{}))
	got := parsed(t, plain, diagram(t, rendered(t, hostile(t), reports.Options{})))
	if got[1].Error != "" {
		t.Fatal(got[1].Error)
	}
	if !slices.Equal(got[0].Actors, got[1].Actors) {
		t.Errorf("the actors are %v, and were %v", got[1].Actors, got[0].Actors)
	}
	shown := false
	for _, m := range got[1].Messages {
		text := strings.ReplaceAll(m.Text, "<br/>", " ")
		shown = shown || strings.Contains(text, "x; end #1 %%{init:")
		if !slices.Contains(append(got[1].Actors, ""), m.From) || strings.Contains(text, "\n") {
			t.Errorf("a message of %q: %q", m.From, text)
		}
	}
	if !shown {
		t.Error("no message shows the text as it is")
	}
}
