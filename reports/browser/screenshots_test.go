package browser

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// shots is where screenshots lie, for people to look at. Git ignores it.
const shots = "../out/screenshots"

var views = []view{
	desktop,
	{name: "desktop-dark", width: 1280, height: 900, scheme: "dark"},
	{name: "phone", width: 390, height: 844, mobile: true, scheme: "light"},
	{name: "phone-dark", width: 390, height: 844, mobile: true, scheme: "dark"},
}

// pictured are the subjects of which there are screenshots: these take time.
var pictured = []string{"gc-pause", "redlock"}

// Screenshots of the whole page, and of the moment it broke, on each screen. What
// can be asserted is that nothing is wider than the screen; the rest is for the eye.
func TestScreenshots(t *testing.T) {
	for name, subject := range subjects {
		html := rendered(t, subject(t))
		for _, v := range views {
			t.Run(name+"/"+v.name, func(t *testing.T) {
				tb := open(t, html, v)
				if wide := eval[int](tb, `document.documentElement.scrollWidth`); int64(wide) > v.width {
					t.Errorf("the page is %d pixels wide on a screen of %d", wide, v.width)
				}
				if !slices.Contains(pictured, name) {
					return
				}
				shoot(tb, name+"-"+v.name)
				tb.click(`[data-do=jump]`)
				shoot(tb, name+"-"+v.name+"-broke")
			})
		}
	}
}

func shoot(tb *tab, name string) {
	tb.t.Helper()
	png, err := chromedp.Run(tb.Context, chromedp.FullScreenshot(100))
	if err != nil {
		tb.t.Fatal(err)
	}
	keep(tb.t, name+".png", png)
}

// keep puts a file among the screenshots.
func keep(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(shots, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shots, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}
