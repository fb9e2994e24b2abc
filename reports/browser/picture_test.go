package browser

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"time"

	"github.com/chromedp/chromedp"
)

// checkDrawing checks that the drawing of porcupine is loaded when it is opened, in a frame that may only run its
// script: boxes for operations, and lines through them. It causes no complaints and no requests.
func (tb *tab) checkDrawing(v view) {
	const frames = `[...document.querySelectorAll("iframe")]
		.map((f) => f.getAttribute("sandbox") + " " + f.srcdoc.length).join()`
	if got := eval[string](tb, frames); got != "allow-scripts 0,allow-scripts 0" {
		tb.t.Errorf("the frames are %q, want two that are empty", got)
	}
	tb.press(`.picture summary`, "\r")
	const leastBoxes, leastLines = 20_000, 300 // boxes too small for their texts have 5,000; the legend has 100
	boxes, lines := 0, 0
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) && (boxes < leastBoxes || lines < leastLines) {
		boxes, lines = painted(tb, v.name)
	}
	if boxes < leastBoxes || lines < leastLines {
		tb.t.Errorf("the drawing has %d pixels of boxes and %d of lines", boxes, lines)
	}
	if eval[bool](tb, `document.documentElement.scrollWidth > innerWidth`) {
		tb.t.Error("the page is wider than its window")
	}
	tb.checkQuiet()
}

// painted counts the pixels of the first frame that are of the colours of
// porcupine's boxes and of its lines.
func painted(tb *tab, name string) (boxes, lines int) {
	tb.t.Helper()
	eval[bool](tb, `(document.querySelector("iframe").scrollIntoView({block: "start"}), true)`)
	shot, err := chromedp.Run(tb.Context, chromedp.CaptureScreenshot())
	if err != nil {
		tb.t.Fatal(err)
	}
	saveFile(tb.t, fmt.Sprintf("picture-%s.png", name), shot)
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		tb.t.Fatal(err)
	}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			switch c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA); {
			case c == color.RGBA{0x42, 0xd1, 0xf5, 0xff}:
				boxes++
			case c.R == c.G && c.G == c.B && c.R >= 0x7e && c.R <= 0x81:
				lines++
			}
		}
	}
	return boxes, lines
}
