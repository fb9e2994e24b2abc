// Package html writes pages for browsers. Each page is one file. It needs no network
// and no other file, and no JavaScript to be read or printed.
//
// A page is a struct with its content and a template in assets, which also has the
// styles and the scripts. [Run] draws a scene of package scene, which package diagram
// has placed; data.go makes the data for the scripts.
package html

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"sync"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/outcome"
)

//go:embed assets/*.html assets/*.css assets/*.js
var assets embed.FS

// Run writes the report of a run as one page. Its scripts add zoom, details and a
// player of the steps.
//
// The page has the verdict of each fencing mode, a space-time diagram of each run on
// one time axis, the story in numbered sentences with the state of the world beside
// them, the evidence, and at the end the command that repeats the run. Of a long run
// it shows the part around the decisive step, with a notice.
//
// Width and Colour of the options are not used. The same outcome and options give the
// same bytes. Run returns the error of the options or of the writer. It only reads the
// outcome, and is safe for concurrent use if Options.Inspect is.
func Run(w io.Writer, o *outcome.Outcome, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	return render(w, "report", runTemplate, newRunPage(o, opt))
}

var runTemplate = page("report.html")

// render writes a page as a whole, or nothing. what names the page in an error.
func render(w io.Writer, what string, read func() (*template.Template, error), view any) error {
	t, err := read()
	if err != nil {
		return fmt.Errorf("read the template of the %s: %w", what, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return fmt.Errorf("render the %s: %w", what, err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// page returns a function that reads the template of a page once, with the parts that
// pages share.
func page(name string) func() (*template.Template, error) {
	return sync.OnceValues(func() (*template.Template, error) {
		return template.New(name).Funcs(template.FuncMap{
			"seconds": prose.Seconds,
			"visible": prose.Visible,
		}).ParseFS(assets, "assets/"+name, "assets/parts.html", "assets/panel.html")
	})
}

// asset is an embedded file. It panics where there is none, which is a bug.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("html: " + err.Error())
	}
	return string(b)
}

// Base is the style that all pages share, for a page that is written elsewhere.
func Base() string { return asset("base.css") }

// Drawing is the style and the script of the diagrams of package diagram, for a page that is written elsewhere:
// pointer.js says what it needs.
func Drawing() (css, js string) {
	return asset("base.css") + asset("chart.css"), asset("chart.js") + asset("pointer.js")
}

// Pictures is the HTML to which the diagrams refer, and the legend that explains them.
func Pictures() (defs, legend string, err error) {
	t, err := page("figure.html")()
	if err != nil {
		return "", "", err
	}
	var d, l bytes.Buffer
	if err := errors.Join(t.ExecuteTemplate(&d, "defs", nil), t.ExecuteTemplate(&l, "legend", nil)); err != nil {
		return "", "", err
	}
	return d.String(), l.String(), nil
}
