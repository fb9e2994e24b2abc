package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// missing skips a test whose component is missing, or fails it with
// LOCKSIM_REQUIRE_LIVE=1.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
		t.Fatalf("%s is missing, and LOCKSIM_REQUIRE_LIVE=1", what)
	}
	t.Skipf("%s is missing; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", what)
}

// flags disable the network requests of Chromium itself, and let it run as any user.
var flags = []string{"no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
	"disable-component-update", "disable-sync", "hide-scrollbars"}

// chromium is the browser of all tests. It starts when the first test needs it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	if profile, err = os.MkdirTemp("", "locksim-chromium-"); err != nil {
		return nil, err
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.UserDataDir(profile))
	for _, f := range flags {
		opts = append(opts, chromedp.Flag(f, true))
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, closeTab := chromedp.NewContext(ctx)
	closing = func() { closeTab(); stop() }
	return ctx, chromedp.Do(ctx)
})

var (
	profile string
	closing = func() {}
)

func TestMain(m *testing.M) {
	code := m.Run()
	closing()
	if profile != "" {
		_ = os.RemoveAll(profile) // the system's folder for such things, in any case
	}
	os.Exit(code)
}

// shared is the tab in which the pages are opened one after the other: a tab of its own costs a page twice its
// time. A test that fails closes it, so that the next one does not inherit its state.
var shared struct {
	context.Context
	close func()
}

// sharedTab is the shared tab, for a page of one test. A test has one page at a time.
func sharedTab(t *testing.T) context.Context {
	t.Helper()
	if shared.close == nil {
		shared.Context, shared.close = newTab(t)
	}
	t.Cleanup(func() {
		if t.Failed() && shared.close != nil {
			shared.close()
			shared.close = nil
		}
	})
	return shared.Context
}

// newTab opens a tab that reports complaints, requests and its work.
func newTab(t *testing.T) (context.Context, func()) {
	t.Helper()
	parent, err := chromium()
	if errors.Is(err, exec.ErrNotFound) {
		missing(t, "chromium (a Debian package of that name)")
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(parent)
	if err := chromedp.Do(ctx, command(network.Enable, network.EnableParams{}), command(runtime.Enable, cdp.Empty{}),
		command(log.Enable, cdp.Empty{}), command(performance.Enable,
			performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})); err != nil {
		closeTab()
		t.Fatal(err)
	}
	return ctx, closeTab
}

// command is a command of the protocol whose answer does not matter.
func command[P, R any](cmd cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, cmd, params)
		return err
	})
}

// tab is an open page, with its complaints and its requests.
type tab struct {
	context.Context
	t *testing.T

	mu         sync.Mutex
	complaints []string // console messages, exceptions, dialogs, and log entries of the browser
	requests   []string
}

// view is the screen on which a page is shown.
type view struct {
	name          string
	width, height int64
	mobile        bool
	scheme        string // light or dark
	noScript      bool   // scripts are disabled
	// patience is how long a test may have the page; 0 stands for two minutes.
	patience time.Duration
}

var desktop = view{name: "desktop", width: 1280, height: 900, scheme: "light"}

// open loads a page from disk.
func open(t *testing.T, html []byte, v view) *tab {
	t.Helper()
	return visit(t, onDisk(t, html), v)
}

// onDisk is the address of a page that is written to disk.
func onDisk(t *testing.T, html []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, html, 0o600); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: file}).String()
}

// visit loads a page from its address.
func visit(t *testing.T, address string, v view) *tab {
	t.Helper()
	return load(t, sharedTab(t), address, v)
}

// load loads a page into a tab. A page with a script is ready when the script says so.
func load(t *testing.T, ctx context.Context, address string, v view) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(v.patience, 2*time.Minute))
	t.Cleanup(cancel)
	tb := &tab{Context: ctx, t: t}
	if err := chromedp.Listen(tb.Context, tb.onEvent); err != nil {
		t.Fatal(err)
	}
	ready := "html[data-ready=yes] h1, html:not(:has(script)) h1"
	if v.noScript {
		ready = "h1"
	}
	tb.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.noScript}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: v.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}),
		v.emulate(), chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS(ready)))
	return tb
}

// emulate sets the size of the tab, and touch input for a phone.
func (v view) emulate() chromedp.Action[chromedp.Void] {
	if v.mobile {
		return chromedp.EmulateViewport(v.width, v.height, chromedp.EmulateMobile, chromedp.EmulateTouch,
			chromedp.EmulateScale(2))
	}
	return chromedp.EmulateViewport(v.width, v.height)
}

// check runs an assertion about the open page as a test of its own.
func (tb *tab) check(name string, f func()) {
	tb.t.Helper()
	t := tb.t
	t.Run(name, func(sub *testing.T) {
		tb.t = sub
		f()
	})
	tb.t = t
}

// checkWidth checks that the page is not wider than its screen.
func (tb *tab) checkWidth(v view) {
	tb.t.Helper()
	if wide := eval[int](tb, `document.documentElement.scrollWidth`); int64(wide) > v.width {
		tb.t.Errorf("the page is %d pixels wide on a screen of %d", wide, v.width)
	}
}

// onEvent collects complaints and requests.
func (tb *tab) onEvent(event any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		tb.complaints = append(tb.complaints, fmt.Sprintf("console.%v, %d arguments", e.Type, len(e.Args)))
	case *runtime.EventExceptionThrown:
		tb.complaints = append(tb.complaints, thrown(e.ExceptionDetails))
	case *log.EventEntryAdded:
		tb.complaints = append(tb.complaints, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		// which are parts of the page
		if !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasPrefix(e.Request.URL, "blob:") {
			tb.requests = append(tb.requests, e.Request.URL)
		}
	case *page.EventJavascriptDialogOpening:
		tb.complaints = append(tb.complaints, "a dialog: "+e.Message)
	}
}

// thrown is an exception with its description.
func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil {
		return d.Text + " " + d.Exception.Description
	}
	return d.Text
}

// do runs actions, and ends the test if one fails.
func (tb *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	if err := chromedp.Do(tb.Context, actions...); err != nil {
		tb.t.Fatal(err)
	}
}

// checkQuiet checks that there are no complaints and no request but that of the page
// itself.
func (tb *tab) checkQuiet() {
	tb.t.Helper()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if len(tb.complaints) > 0 {
		tb.t.Errorf("complaints:\n%s", strings.Join(tb.complaints, "\n"))
	}
	if len(tb.requests) != 1 || !strings.HasPrefix(tb.requests[0], "file:") {
		tb.t.Errorf("the page requested %q, want itself only", tb.requests)
	}
}

// eval is the value of an expression on the page.
func eval[T any](tb *tab, expression string) T {
	tb.t.Helper()
	out, err := chromedp.Run(tb.Context, chromedp.Evaluate[T](expression))
	if err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// press focuses an element and presses a key.
func (tb *tab) press(selector, key string) {
	tb.t.Helper()
	tb.do(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(key))
}

// click scrolls to an element and clicks it.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	tb.do(chromedp.Click(chromedp.CSS(selector)))
}
