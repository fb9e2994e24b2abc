package browser

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"locksim/internal/playground/page"
	"locksim/internal/soak"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// The playground in figures, which this test prints and does not judge: how large the engine is as a page has it, when
// it gave its first answer, how long a warm move of a slider takes until it is answered and until it is drawn, beside
// the runs of its modes made natively right after it, and how long the curve of a violation takes.
//
//	LOCKSIM_SOAK=1 go -C reports/browser test -run PlaygroundFigures -v .
func TestPlaygroundFigures(t *testing.T) {
	soak.Only(t, "it builds the engine for js/wasm, and measures it")
	engine, err := page.Build(context.Background(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	html, err := page.Make(engine, page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the engine has %.2f MB, %.2f MB with gzip", float64(len(engine.Program))/1e6,
		float64(packedSize(t, engine.Program))/1e6)

	tb := open(t, html, patient(desktop))
	t.Logf("its first answer came after %d ms", eval[int](tb, `+document.documentElement.dataset.first`))
	for range 40 { // until it is warm: the browser compiles it better while it runs
		tb.settled(func() { tb.click("[data-do=reseed]") })
	}
	tb.settled(func() { tb.click("[data-do=reset]") })
	var answered, drawn, native []float64
	for range 21 {
		tb.settled(func() { tb.press(`[data-path="faults[0].pause.for"] input`, kb.ArrowRight) })
		answered = append(answered, eval[float64](tb, `+document.documentElement.dataset.took`))
		drawn = append(drawn, eval[float64](tb, `+document.documentElement.dataset.shown`))
		source := eval[string](tb, `document.querySelector("[data-source]").value`)
		native = append(native, nativeRun(t, source))
	}
	a, d, n := median(answered), median(drawn), median(native)
	t.Logf("a move of a slider, the median of %d: answered after %.0f ms, drawn after %.0f ms; the runs of its modes "+
		"take %.1f ms here: %.1f and %.1f times as long",
		len(native), a, d, n, a/n, d/n)

	tb.settled(func() { tb.click("[data-do=reset]") })
	tb.click("[data-do=curve]")
	tb.waitFor("the curve", `+document.documentElement.dataset.curve > 0`)
	t.Logf("the curve took %.1f s", float64(eval[int](tb, `+document.documentElement.dataset.curve`))/1e3)
}

// nativeRun is how long a scenario takes in this process, in milliseconds: the run of each mode once, without pictures.
func nativeRun(t *testing.T, source string) float64 {
	t.Helper()
	began := time.Now()
	sc, err := file.Parse("scenario.yaml", []byte(source), subject.ServerNames()...)
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find(sc.Lock.Kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := play.Run(sc, l, play.RunOptions{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	return float64(time.Since(began).Microseconds()) / 1e3
}

func median(all []float64) float64 { return slices.Sorted(slices.Values(all))[len(all)/2] }

// packedSize is the size of a program as a page has it, compressed.
func packedSize(t *testing.T, program []byte) int {
	t.Helper()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, bytes.NewReader(program)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Len()
}
