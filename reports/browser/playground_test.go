package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"locksim/internal/playground"
	"locksim/internal/playground/page"
	"locksim/internal/soak"
)

// patience is how long the playground may take: it is a large program, and a busy machine compiles it in its own time.
const patience = 20 * time.Minute

// patient is a view for it.
func patient(v view) view {
	v.patience = patience
	return v
}

// playgroundPage is the page of the playground, with its engine.
func playgroundPage(t *testing.T) []byte {
	t.Helper()
	engine, err := page.Build(context.Background(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	b, err := page.Make(engine, page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the engine has %d bytes, the page %d", len(engine.Program), len(b))
	return b
}

// waitFor waits until an expression on the page is true.
func (tb *tab) waitFor(what, expression string) {
	tb.t.Helper()
	for began := time.Now(); !eval[bool](tb, expression); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > patience {
			tb.t.Fatalf("%s did not happen", what)
		}
	}
}

// settled waits until the page has the answer to all that was asked.
func (tb *tab) settled(do func()) {
	tb.t.Helper()
	before := eval[int](tb, `+document.documentElement.dataset.answers`)
	do()
	tb.waitFor("an answer", fmt.Sprintf(`+document.documentElement.dataset.answers > %d`, before))
}

// choose selects an option as a user does.
func (tb *tab) choose(selector, value string) {
	tb.t.Helper()
	tb.settled(func() {
		eval[bool](tb, fmt.Sprintf(
			`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("change")); return s.value === %[2]q })()`, selector, value))
	})
}

// shownHashes are the hashes on the page, by mode.
func (tb *tab) shownHashes() map[string]string {
	tb.t.Helper()
	return eval[map[string]string](tb,
		`Object.fromEntries([...document.querySelectorAll("[data-hashes] dt")].map((d) => [d.textContent, d.nextElementSibling.textContent]))`)
}

// An answer of the engine, which another program stands for here, changes what it is about on the page, and nothing
// else.
func TestThePlaygroundShowsAnswers(t *testing.T) {
	menu, err := playground.NewMenu()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(menu.Stories, func(s playground.Story) bool { return s.Name == "lost-reply" })
	answer, err := json.Marshal(playground.Play(playground.Request{Source: menu.Stories[i].Source, Seed: 1}))
	if err != nil {
		t.Fatal(err)
	}
	glue := fmt.Sprintf(`class Go {
	constructor() { this.importObject = { gojs: {} }; }
	run() { globalThis.locksim = (what, request, say) => say("done", %q); return new Promise(() => {}); }
}`, answer)
	b, err := page.Make(&page.Engine{Program: []byte("\x00asm\x01\x00\x00\x00"), Glue: glue}, page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tb := open(t, b, desktop)
	for range 3 {
		tb.settled(func() { tb.click("[data-do=reseed]") })
	}
	if got := eval[string](tb, `document.querySelector("h1").textContent`); got != menu.Stories[i].Title {
		t.Errorf("the title is %q, want %q", got, menu.Stories[i].Title)
	}
	if n := eval[int](tb,
		`document.querySelectorAll("figure.panel, [data-answers] dt, [data-knobs] label").length`); n < 10 {
		t.Errorf("the page has %d parts", n)
	}
	tb.checkQuiet()
}

// The playground plays what the command plays, answers a drag, and is usable by keys, on a phone and in the dark.
func TestPlayground(t *testing.T) {
	soak.Only(t, "it builds the engine for js/wasm")
	html := playgroundPage(t)
	axe := axeSource(t)
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			tb := open(t, html, patient(v))
			t.Logf("first answer of the engine after %d ms", eval[int](tb, `+document.documentElement.dataset.first`))
			tb.check("width", func() { tb.checkWidth(v) })
			tb.check("axe", func() { tb.accessible(axe) })
			shoot(tb, "playground-"+v.name)
			tb.settled(func() { tb.click("[data-language]"); tb.choose("[data-lock]", "redlock") })
			tb.check("Chinese", func() { tb.checkWidth(v); tb.accessible(axe) })
			shoot(tb, "playground-zh-"+v.name)
			tb.check("an error in the file", func() {
				tb.settled(func() {
					eval[bool](tb, `(() => { const s = document.querySelector("[data-source]"); s.value = s.value.replace("ttl: 10s", "ttl: soon"); s.dispatchEvent(new Event("input")); return true })()`)
				})
				if said := eval[string](tb, `document.querySelector("[data-problem]").textContent`); !strings.Contains(said,
					"10") || !strings.Contains(said, "^") {
					tb.t.Errorf("the problem is %q", said)
				}
				tb.accessible(axe)
			})
			shoot(tb, "playground-error-"+v.name)
			tb.check("quiet", func() { tb.checkQuiet() })
		})
	}
	t.Run("hashes", func(t *testing.T) { playgroundHashes(t, html) })
	t.Run("work", func(t *testing.T) { playgroundWork(t, html) })
}

// playgroundHashes compares what the page plays with what this process plays.
func playgroundHashes(t *testing.T, html []byte) {
	tb := open(t, html, patient(desktop))
	menu, err := playground.NewMenu()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range []struct{ story, lock string }{
		{"gc-pause", "fenced"}, {"gc-pause", "redlock"}, {"failover-before-replication", "single"},
		{"failover-before-replication", "fenced"},
		{"redlock-clock-jump", "redlock"}, {"lost-reply", "single"}, {"late-packet", "fenced"}, {"split-brain", "fenced"},
		{"stale-write-first", "watchdog-fenced"}, {"del-without-owner", "broken/del-without-owner"},
		{"process-crash-everysec", "single"}, {"crowded-queue", "fair"},
	} {
		i := slices.IndexFunc(menu.Stories, func(s playground.Story) bool { return s.Name == c.story })
		if i < 0 {
			t.Errorf("there is no story %s", c.story)
			continue
		}
		tb.choose("[data-story]", c.story)
		tb.choose("[data-lock]", c.lock)
		began := time.Now()
		want := playground.Play(playground.Request{Source: menu.Stories[i].Source, Lock: c.lock, Seed: 1})
		native := time.Since(began)
		got := tb.shownHashes()
		for _, m := range want.Modes {
			if m.Hash == "" {
				continue
			}
			compared++
			if got[string(m.Mode)] != m.Hash {
				t.Errorf("%s with %s in mode %s: the page has %q, want %q", c.story, c.lock, m.Mode, got[string(m.Mode)], m.Hash)
			}
		}
		t.Logf("%s with %s: %s ms in the browser, %v here", c.story, c.lock,
			eval[string](tb, `document.documentElement.dataset.took`), native.Round(time.Millisecond))
	}
	t.Logf("%d hashes compared", compared)
}

// playgroundWork drags a slider, follows a link, plays many seeds and stops them, and draws the curve.
func playgroundWork(t *testing.T, html []byte) {
	tb := open(t, html, patient(desktop))
	for range 40 { // until it is warm: the browser compiles it better while it runs
		tb.settled(func() { tb.click("[data-do=reseed]") })
	}
	tb.settled(func() { tb.click("[data-do=reset]") })
	pause := `[data-path="faults[0].pause.for"]`
	tb.settled(func() { tb.press(pause+" input", kb.Home) })
	if shown := eval[string](tb, `document.querySelector("[data-source]").value`); !strings.Contains(shown, "for: 1ms}") {
		t.Errorf("the file is\n%s", shown)
	}
	if label := eval[string](tb, `document.querySelector("[data-ends] .chip").dataset.label`); label != "safe" {
		t.Errorf("without a pause it ends %s", label)
	}
	var took, drawn []int
	for range 8 {
		tb.settled(func() { tb.press(pause+" input", kb.ArrowRight) })
		took = append(took, eval[int](tb, `+document.documentElement.dataset.took`))
		drawn = append(drawn, eval[int](tb, `+document.documentElement.dataset.shown`))
	}
	source := eval[string](tb, `document.querySelector("[data-source]").value`)
	var native []time.Duration
	for range 8 {
		began := time.Now()
		playground.Play(playground.Request{Source: source, Seed: 1})
		native = append(native, time.Since(began).Round(time.Millisecond))
	}
	t.Logf("a move of the slider was answered after %v ms, and drawn after %v ms; the run takes %v here", took, drawn,
		native)

	tb.waitFor("a link", `document.querySelector("[data-link]").value.includes("#")`)
	time.Sleep(300 * time.Millisecond)
	link := eval[string](tb, `document.querySelector("[data-link]").value`)
	other := load(t, tb.Context, strings.Replace(link, "#", "?again#", 1), patient(desktop))
	if got := eval[string](other, `document.querySelector("[data-source]").value`); got != source {
		t.Errorf("the link has\n%s\nwant\n%s", got, source)
	}

	other.click("[data-do=seeds]")
	other.waitFor("twenty seeds", `parseInt(document.querySelector("[data-count]").textContent) >= 20`)
	other.click("[data-do=stop]")
	other.waitFor("the stop", `+document.documentElement.dataset.seeds > 0`)
	if n := eval[int](other, `+document.documentElement.dataset.seeds`); n < 20 || n > 400 {
		t.Errorf("stopped after %d seeds", n)
	}
	other.settled(func() { other.click("[data-do=reset]") })
	other.click("[data-do=seeds]")
	other.click("[data-do=curve]")
	other.waitFor("all seeds", `+document.documentElement.dataset.seeds === 500`)
	other.waitFor("the curve", `+document.documentElement.dataset.curve > 0`)
	rows := eval[string](other,
		`JSON.stringify([...document.querySelectorAll("[data-histogram] tbody tr")].map((r) => r.innerText))`)
	var shown []string
	if err := json.Unmarshal([]byte(rows), &shown); err != nil || len(shown) < 3 {
		t.Errorf("the histogram has %q", rows)
	}
	t.Logf("500 seeds: %q; the curve took %d ms", shown, eval[int](other, `+document.documentElement.dataset.curve`))
	shoot(other, "playground-work")
}
