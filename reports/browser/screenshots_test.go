package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// shots is the folder of the screenshots, which git ignores.
const shots = "../out/screenshots"

var phoneDark = view{name: "phone-dark", width: 390, height: 844, mobile: true, scheme: "dark"}

// views are all of them with LOCKSIM_SOAK=1 or for pictures. Otherwise they are the two that have nothing in
// common.
var views = func() []view {
	if os.Getenv("LOCKSIM_SOAK") != "1" && os.Getenv("LOCKSIM_SCREENSHOTS") == "" {
		return []view{desktop, phoneDark}
	}
	return []view{
		desktop,
		{name: "desktop-dark", width: 1280, height: 900, scheme: "dark"},
		{name: "phone", width: 390, height: 844, mobile: true, scheme: "light"},
		phoneDark,
	}
}()

// shown reports whether axe-core looks at a subject in a view: in each with LOCKSIM_SOAK=1 or for pictures, and
// otherwise at one subject in each and at the others on a dark phone, which is where most goes wrong.
func shown(subject string, v view) bool {
	all := os.Getenv("LOCKSIM_SOAK") == "1" || os.Getenv("LOCKSIM_SCREENSHOTS") != ""
	return all || subject == "gc-pause" || v.mobile && v.scheme == "dark"
}

// shoot takes a picture of the whole page if LOCKSIM_SCREENSHOTS is set: it takes
// seconds.
func shoot(tb *tab, name string) {
	tb.t.Helper()
	if os.Getenv("LOCKSIM_SCREENSHOTS") == "" {
		return
	}
	png, err := chromedp.Run(tb.Context, chromedp.FullScreenshot(100))
	if err != nil {
		tb.t.Fatal(err)
	}
	saveFile(tb.t, name+".png", png)
}

// saveFile writes a file into the folder of the screenshots.
func saveFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(shots, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shots, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}
