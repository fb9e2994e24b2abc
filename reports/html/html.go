// Package html writes pages for browsers. Each page is one file that needs nothing
// else: no network, no other file, and no JavaScript to be read or printed.
//
// A page is a struct of what it shows and a template in assets, which also has the
// styles and the scripts. [Run] draws what package scene says of a run: diagram.go,
// lanes.go and scale.go give it places in pixels, data.go hands it to the scripts.
package html

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"sync"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/play"
)

//go:embed assets/*.html assets/*.css assets/*.js
var assets embed.FS

// Run writes the report of a run as one page that needs nothing else: no
// network, no other file, and no JavaScript to be read or printed. Scripts add
// zoom, details and the step-by-step play.
//
// The page says what became of each fencing mode, draws each run as a space-time
// diagram on one time axis, tells the story in numbered sentences with the state
// of the world beside them, lays out the evidence, and ends with the command that
// makes the run again. Of a long run it draws and tells the part around the
// decisive step, and says so.
//
// Of the options, Width and Colour play no part. The same outcome and options
// give the same bytes. The error is that of the options or of the writer.
// Run only reads the outcome, and is safe for concurrent use if Options.Inspect is.
func Run(w io.Writer, o *play.Outcome, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	return render(w, "report", runTemplate, newRunPage(o, opt))
}

var runTemplate = page("report.html")

// render writes a page, all of it or nothing. what is the page in an error.
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

// page reads the template of a page, once, with the parts that pages share.
func page(name string) func() (*template.Template, error) {
	return sync.OnceValues(func() (*template.Template, error) {
		return template.New(name).Funcs(template.FuncMap{
			"seconds": prose.Seconds,
			"visible": prose.Visible,
		}).ParseFS(assets, "assets/"+name, "assets/parts.html")
	})
}

// asset is an embedded file. It is part of the program, so it is there.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("reports: " + err.Error())
	}
	return string(b)
}
