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

// views are all of them with LOCKSIM_SOAK=1 or for pictures. Otherwise they are the two that have nothing in common.
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

// No page is wider than its screen, and axe-core finds nothing on it, on any screen, in light and dark: contrast of 4.5 to
// 1, names, roles, order of headings. With LOCKSIM_SCREENSHOTS, as in make screenshots, the test also takes pictures of the
// whole page and of the decisive step.
func TestScreens(t *testing.T) {
	for name, subject := range subjects {
		html := rendered(t, subject(t))
		for _, v := range views {
			if !shown(name, v) {
				continue
			}
			t.Run(name+"/"+v.name, func(t *testing.T) {
				tb := open(t, html, v)
				if wide := eval[int](tb, `document.documentElement.scrollWidth`); int64(wide) > v.width {
					t.Errorf("the page is %d pixels wide on a screen of %d", wide, v.width)
				}
				shoot(tb, name+"-"+v.name)
				tb.accessible(axeSource(t))
				if eval[bool](tb, `!!document.querySelector("[data-do=jump]")`) {
					tb.click(`[data-do=jump]`)
					shoot(tb, name+"-"+v.name+"-broke")
				}
			})
		}
	}
}

// shown reports whether a subject is looked at in a view: in each with LOCKSIM_SOAK=1 or for pictures, and otherwise one
// subject in each and the others on a dark phone, which is where most goes wrong.
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
