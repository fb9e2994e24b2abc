package markdowntest

import (
	"bytes"
	"fmt"
	stdhtml "html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"locksim/reports"
)

var github = goldmark.New(goldmark.WithExtensions(extension.GFM))

// shape counts the elements of a page as GitHub parses it.
type shape struct {
	headings, tables, cells, items, codes, links, tags int
}

func shapeOf(t *testing.T, page string) (s shape) {
	t.Helper()
	source := []byte(page)
	err := ast.Walk(github.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus,
		error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			s.headings++
		case *east.Table:
			s.tables++
		case *east.TableCell:
			s.cells++
		case *ast.ListItem:
			s.items++
		case *ast.FencedCodeBlock:
			s.codes++
		case *ast.Link, *ast.AutoLink, *ast.Image:
			s.links++
		case *ast.RawHTML:
			if !regexp.MustCompile(`^</?span>$`).Match(n.Segments.Value(source)) {
				s.tags++
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A hostile text changes no heading, table, list or block of a page, and makes no link
// and no tag.
func TestHostileTextsAreText(t *testing.T) {
	o := hostile(t)
	s := shapeOf(t, rendered(t, o,
		reports.Options{Replay: evil, Versions: []reports.Version{{Name: evil, Version: evil}}}))
	want := shape{
		headings: 5, tables: 2, codes: 3,
		cells: 11*4 + 4*(1+len(o.Modes[0].Story)),
		// The answer, the remark that nothing is expected, two divergences, the reason of all modes,
		// two limits, three hashes, a version.
		items: 4 + 1 + 1 + 2 + 2 + 3 + 1,
	}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

// A page shows each hostile text character by character.
func TestHostileTextsAreShown(t *testing.T) {
	o := hostile(t)
	var html bytes.Buffer
	page := rendered(t, o, reports.Options{Versions: []reports.Version{{Name: evil, Version: evil}}})
	if err := github.Convert([]byte(page), &html); err != nil {
		t.Fatal(err)
	}
	shown := stdhtml.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html.String(), ""))
	shown = strings.ReplaceAll(shown, "\u200b", "")
	want := strings.NewReplacer("\n", " ", "\x1b", "\ufffd").Replace(evil)
	// The title, the scenario, the lock, its rows of the catalogue, why, the remark on
	// the lock, the reason, each step of the story, and both halves of a version.
	places := 1 + 1 + 1 + 1 + 1 + 1 + 1 + len(o.Modes[0].Story) + 2
	if n := strings.Count(shown, want); n < places {
		t.Errorf("the text is shown %d times, want at least %d", n, places)
	}
}

// Each page of the gallery exists and has its parts.
func TestGalleryPages(t *testing.T) {
	index, err := os.ReadFile("../gallery/README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(index), -1)
	if len(links) != 13 {
		t.Fatalf("the index has %d links, want 13", len(links))
	}
	for i, link := range links {
		page, err := os.ReadFile(filepath.Join("..", "gallery", link[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		s := shapeOf(t, string(page))
		if s.headings != 5 || s.tables != 2 || s.codes != 3 || s.links != 0 ||
			!strings.HasPrefix(link[1], fmt.Sprintf("%02d-", i+1)) {
			t.Errorf("%s: %+v", link[1], s)
		}
	}
}
