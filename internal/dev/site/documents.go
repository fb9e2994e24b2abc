package main

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"locksim/reports/html"
)

// written are the documents of the site. A page of the gallery is not among them: the site has it as the page of its
// run.
var written = []string{"README.md", "README.zh.md", "AGENTS.md", "CHANGELOG.md", "docs/*.md", "docs/*/*.md",
	"reports/*.md", "reports/groundtruth/*.md", "reports/gallery/README.md"}

// copied are files that the site has as they are: what the documents show or lead to.
var copied = []string{"LICENSE", "reports/*.png", "reports/schema/*.json", "reports/libraries/*.html",
	"reports/libraries/*/*.yaml", "reports/redlock/*.yaml", "scenarios/library/*.yaml"}

// addressed are the documents in whose tables each cell has an address: that of its row and its column, in words. It
// stays as long as there are such a row and such a column.
var addressed = []string{"reports/LIBRARIES.md", "reports/GROUNDTRUTH.md", "docs/reference/compare.md",
	"docs/reference/compare-leases.md"}

// pageOf is the name of the page of a document.
func pageOf(name string) string {
	switch name {
	case "README.md":
		return "readme.html"
	case "README.zh.md":
		return "readme.zh.html"
	case "docs/README.md", "reports/gallery/README.md", "docs/upstream/README.md":
		return strings.TrimSuffix(name, "README.md") + "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// documents writes the documents as pages, and copies what they lead to.
func (s *site) documents(context.Context) error {
	names, err := s.find(written)
	if err != nil {
		return err
	}
	files, err := s.find(copied)
	if err != nil {
		return err
	}
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
		if err == nil {
			err = s.put(name, b)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range names { // so that links to pages that follow are known
		if err := s.put(pageOf(name), nil); err != nil {
			return err
		}
	}
	for _, name := range files {
		if err := s.redirect(name); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := s.document(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// toDocument is a link of a page to a document.
var toDocument = regexp.MustCompile(`href="([^":]*\.md)(#[^"]*)?"`)

// redirect makes the links of a page that was copied lead to the pages of documents.
func (s *site) redirect(name string) error {
	if path.Ext(name) != ".html" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	return s.put(name, toDocument.ReplaceAllFunc(b, func(link []byte) []byte {
		m := toDocument.FindSubmatch(link)
		to, ok := s.target(name, string(m[1]))
		if !ok {
			return link // the check names it
		}
		return []byte(`href="` + to + string(m[2]) + `"`)
	}))
}

// find is the files of the checkout that match one of some patterns.
func (s *site) find(patterns []string) ([]string, error) {
	var all []string
	for _, p := range patterns {
		found, err := fs.Glob(os.DirFS(s.root), p)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no %s in the checkout", p)
		}
		all = append(all, found...)
	}
	return all, nil
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithAttribute()),
	goldmark.WithRendererOptions(goldhtml.WithUnsafe())) // the documents are our own: places, line breaks, what is folded

// parse is a document as a tree, with its links made those of the site.
func (s *site) parse(name string) (ast.Node, []byte, error) {
	src, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return nil, nil, err
	}
	doc := markdown.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext(parser.WithIDs(&headings{}))))
	var drop []ast.Node
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if to, ok := s.target(name, string(n.Destination)); ok {
				n.Destination = []byte(to)
			} else {
				drop = append(drop, n)
			}
		case *ast.Image:
			to, _ := s.target(name, string(n.Destination))
			n.Destination = []byte(to)
		case *ast.HTMLBlock:
			if n.HTMLBlockType == ast.HTMLBlockType2 { // a comment, for tests
				drop = append(drop, n)
			}
		case *ast.RawHTML:
			if bytes.HasPrefix(n.Segments.Value(src), []byte("<!--")) {
				drop = append(drop, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range drop {
		parent := n.Parent()
		for child := n.FirstChild(); child != nil; child = n.FirstChild() {
			parent.InsertBefore(parent, n, child)
		}
		parent.RemoveChild(parent, n)
	}
	return doc, src, err
}

// target is where a link of a document leads on the site, false if that is nowhere.
func (s *site) target(from, to string) (string, bool) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return to, true
	}
	file, anchor, _ := strings.Cut(to, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	name := path.Join(path.Dir(from), file)
	for _, candidate := range []string{pageOf(name), name} {
		if s.exists(candidate) {
			return relative(pageOf(from), candidate) + anchor, true
		}
	}
	return "", false
}

// relative is the address of a file of the site, on a page of it.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

func (s *site) document(name string) error {
	doc, src, err := s.parse(name)
	if err != nil {
		return err
	}
	title := "locksim"
	if h, ok := doc.FirstChild().(*ast.Heading); ok {
		title = plain(h, src)
	}
	for n := doc.FirstChild(); n != nil && title == "locksim"; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			title = plain(h, src)
		}
	}
	if slices.Contains(addressed, name) {
		addressCells(doc, src)
	}
	scrollTables(doc, src)
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, src, doc); err != nil {
		return err
	}
	to := pageOf(name)
	lang := "en"
	if strings.Contains(name, ".zh.") {
		lang = "zh"
	}
	var b bytes.Buffer
	err = documentTemplate.Execute(&b, map[string]any{
		"Title": title, "Lang": lang, "CSS": template.CSS(html.Base() + documentCSS),
		"Body":       template.HTML(framed(body.String())),
		"Home":       relative(to, map[bool]string{false: "index.html", true: "index.zh.html"}[lang == "zh"]),
		"Docs":       relative(to, "docs/index.html"),
		"Playground": relative(to, "playground.html") + map[bool]string{true: "?zh"}[lang == "zh"],
	})
	if err != nil {
		return err
	}
	return s.put(to, b.Bytes())
}

func plain(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// addressCells gives each cell of the tables an address, and a link to it.
func addressCells(doc ast.Node, src []byte) {
	known := map[string]bool{}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		table, ok := n.(*extast.Table)
		if !ok {
			continue
		}
		var columns []string
		for row := table.FirstChild(); row != nil; row = row.NextSibling() {
			name, i := "", 0
			for cell := row.FirstChild(); cell != nil; cell, i = cell.NextSibling(), i+1 {
				words := slug(plain(cell, src))
				switch _, head := row.(*extast.TableHeader); {
				case head:
					columns = append(columns, words)
				case i == 0:
					name = words
				case i < len(columns):
					id := name + "--" + columns[i]
					if known[id] {
						continue
					}
					known[id] = true
					cell.SetAttributeString("id", []byte(id))
					link := ast.NewLink()
					link.Destination = []byte("#" + id)
					link.SetAttributeString("class", []byte("here"))
					link.SetAttributeString("aria-label", []byte("address of this cell"))
					link.AppendChild(link, ast.NewString([]byte("#")))
					cell.AppendChild(cell, link)
				}
			}
		}
	}
}

// short is the length of the longest cell, in characters, of a table that is drawn with narrow columns where there is
// room.
const short = 20

// scrollTables marks the tables, which framed puts into frames that scroll.
func scrollTables(doc ast.Node, src []byte) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		table, ok := n.(*extast.Table)
		if !ok {
			continue
		}
		longest := 0
		for row := table.FirstChild(); row != nil; row = row.NextSibling() {
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				longest = max(longest, utf8.RuneCountInString(plain(cell, src)))
			}
		}
		class := "data"
		if longest <= short {
			class = "data short"
		}
		table.SetAttributeString("class", []byte(class))
	}
}

const frame = `tabindex="0" role="region" aria-label="table"><table>`

// framed puts the tables into frames that scroll, by the keyboard too, and keeps a sign and its number on one line.
func framed(body string) string {
	return strings.NewReplacer(`<table class="data">`, `<div class="scroll" `+frame, `<table class="data short">`,
		`<div class="scroll short" `+frame,
		"</table>\n", "</table></div>\n", "<pre><code", `<pre tabindex="0"><code`, "✓ ", "✓&nbsp;", "✗ ",
		"✗&nbsp;").Replace(body)
}

// headings gives headings the names that GitHub gives them.
type headings struct{ used map[string]int }

// Generate is part of goldmark's parser.IDs.
func (h *headings) Generate(value []byte, _ ast.NodeKind) []byte {
	name := slug(string(value))
	if h.used == nil {
		h.used = map[string]int{}
	}
	n := h.used[name]
	h.used[name]++
	if n > 0 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return []byte(name)
}

// Put is part of goldmark's parser.IDs.
func (h *headings) Put([]byte) {}

// slug is a text as an address.
func slug(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, s), " ")
}
