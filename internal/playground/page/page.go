// Package page has the page of the playground: one file with its styles, its scripts and the engine, package playground
// compiled for js/wasm. It asks for nothing else, neither from the network nor from the disk, and needs no server.
package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"locksim/internal/playground"
	"locksim/reports/html"
)

//go:embed assets
var assets embed.FS

// Policy is the content security policy of the page: it may run what is in it, the engine and a worker of its own
// included, and load nothing.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; " +
	"worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"

// pieceSize is the length of the pieces in which the engine is in the page. A browser shows how many it has.
const pieceSize = 192 << 10

// firstStory is what the page shows first.
const firstStory = "gc-pause"

// Name is the file that a release has beside its program.
const Name = "playground.html"

// Options say what is around the page.
type Options struct {
	// Front and FrontChinese are the addresses of the front page of the site that the page belongs to, "" for none.
	Front, FrontChinese string
}

// Make is the page with an engine, which [Build] has built.
func Make(e *Engine, o Options) ([]byte, error) {
	menu, err := playground.NewMenu()
	if err != nil {
		return nil, err
	}
	first, err := firstAnswer(menu)
	if err != nil {
		return nil, err
	}
	css, js := html.Drawing()
	defs, legend, err := html.Pictures()
	if err != nil {
		return nil, err
	}
	engine, err := pieces(e.Program)
	if err != nil {
		return nil, err
	}
	menuJSON, err := inScript(menu)
	if err != nil {
		return nil, err
	}
	firstJSON, err := inScript(first)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = strings.NewReplacer(
		"{{POLICY}}", Policy, "{{FRONT}}", template.HTMLEscapeString(o.Front), "{{FRONT_ZH}}",
		template.HTMLEscapeString(o.FrontChinese), "{{CSS}}", css+asset("page.css"), "{{DEFS}}", defs, "{{LEGEND}}", legend,
		"{{MENU}}", menuJSON, "{{FIRST}}", firstJSON,
		"{{WORKER}}", strings.ReplaceAll(e.Glue, "</", `<\/`)+asset("worker.js"), "{{JS}}",
		js+asset("words.js")+asset("draw.js")+asset("app.js"), "{{ENGINE}}", engine,
	).WriteString(&b, asset("page.html"))
	return b.Bytes(), err
}

// Part is a part of a page that is written elsewhere.
type Part struct{ CSS, HTML, JS string }

// Demo is the first story, told step by step beside its diagram, in English or in Chinese around it.
func Demo(chinese bool) (*Part, error) {
	menu, err := playground.NewMenu()
	if err != nil {
		return nil, err
	}
	a, err := firstAnswer(menu)
	if err != nil {
		return nil, err
	}
	data, err := inScript(map[string]any{"diagram": a.Diagram, "runs": a.Runs, "modes": a.Modes})
	if err != nil {
		return nil, err
	}
	css, js := html.Drawing()
	defs, _, err := html.Pictures()
	if err != nil {
		return nil, err
	}
	words := `{"play":"Play","pause":"Pause","again":"Play again"}`
	if chinese {
		words = `{"play":"播放","pause":"暂停","again":"再放一遍"}`
	}
	return &Part{
		CSS:  css + asset("demo.css"),
		HTML: defs + asset("demo.html"),
		JS:   js + asset("draw.js") + "const demoWords = " + words + ", demo = " + data + ";\n" + asset("demo.js"),
	}, nil
}

// firstAnswer is what the page shows until its engine has started, which then plays the same.
func firstAnswer(menu *playground.Menu) (*playground.Answer, error) {
	for _, s := range menu.Stories {
		if s.Name == firstStory {
			a := playground.Play(playground.Request{Source: s.Source, Seed: 1})
			if a.Problem != nil {
				return nil, fmt.Errorf("play %s: %s", firstStory, a.Problem.Text)
			}
			return a, nil
		}
	}
	return nil, fmt.Errorf("the library has no scenario %s", firstStory)
}

// inScript is JSON that does not end the script that it is in.
func inScript(v any) (string, error) {
	b, err := json.Marshal(v) // which escapes <
	return string(b), err
}

// pieces are scripts that hand the compressed engine to the page.
func pieces(program []byte) (string, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(program); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	total := base64.StdEncoding.EncodedLen(packed.Len())
	var b strings.Builder
	for rest := packed.Bytes(); len(rest) > 0; {
		piece := rest[:min(pieceSize, len(rest))]
		rest = rest[len(piece):]
		fmt.Fprintf(&b, "<script>engine(%q, %d)</script>\n", base64.StdEncoding.EncodeToString(piece), total)
	}
	b.WriteString("<script>engine(null)</script>\n")
	return b.String(), nil
}

// asset is an embedded file. It panics where there is none, which is a bug.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("page: " + err.Error())
	}
	return string(b)
}
