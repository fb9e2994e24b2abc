package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locksim/internal/dev/checkout"
)

// A link that leads nowhere, to no such place, or to what a page would load from elsewhere is an error that names the
// page.
func TestLinksAreFollowed(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{`<a href="docs/b.html#there">b</a> <a href="#here">up</a> <h1 id="here">a</h1> <a href="https://example.org/">out</a>`, ""},
		{`<a href="docs/c.html">c</a>`, "a.html: the link docs/c.html leads nowhere"},
		{`<a href="docs/b.html#gone">b</a>`, "a.html: the link docs/b.html#gone leads to no such place on docs/b.html"},
		{`<img alt="" src="https://example.org/x.png">`, "a.html: it loads https://example.org/x.png from another site"},
	} {
		s := &site{dir: t.TempDir()}
		for name, text := range map[string]string{"a.html": c.page, "docs/b.html": `<h2 id="there">b</h2>`} {
			if err := s.put(name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		err := s.check(t.Context())
		if c.want == "" && (err != nil || s.pages != 2 || s.inner != 2 || s.outer != 1) {
			t.Errorf("%d pages, %d links, %d to other sites: %v", s.pages, s.inner, s.outer, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %s", c.page, err, c.want)
		}
	}
}

// A table of short cells is drawn narrow where there is room, with each sign beside its number. All tables scroll.
func TestTables(t *testing.T) {
	for _, c := range []struct{ cell, want string }{
		{"✓ 142 (✗ 15/164)", `<div class="scroll short" tabindex="0"`},
		{"✗ 15/164, of which the page of the library tells", `<div class="scroll" tabindex="0"`},
	} {
		s := &site{root: t.TempDir(), dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(s.root, "a.md"), []byte("# A\n\n| lock | none |\n|---|---|\n| single | "+c.cell+
			" |\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.document("a.md"); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(s.dir, "a.html"))
		if err != nil {
			t.Fatal(err)
		}
		if page := string(b); !strings.Contains(page, c.want) || !strings.Contains(page, "✗&nbsp;15/164") {
			t.Errorf("%s: the page has no %s, or breaks a sign from its number\n%s", c.cell, c.want, page)
		}
	}
}

// Only a folder that is empty or has a site is cleared.
func TestNothingElseIsCleared(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&site{dir: dir}).clear(); err == nil || !strings.Contains(err.Error(), "give an empty folder") {
		t.Errorf("got %v", err)
	}
}

// The front pages are in two languages. Their commands test and review the lock that they make, by its name.
func TestFront(t *testing.T) {
	s := &site{root: filepath.Join("..", "..", ".."), dir: t.TempDir()}
	if err := s.front(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, w := range languages {
		b, err := os.ReadFile(filepath.Join(s.dir, w.Page))
		if err != nil {
			t.Fatal(err)
		}
		page := string(b)
		made := regexp.MustCompile(`locksim init --lock (\S+) `).FindStringSubmatch(page)
		if made == nil || !strings.Contains(page, "report --review --lock "+made[1]+" ") {
			t.Errorf("%s: the lock that init makes is %q, and another one is reviewed", w.Page, made)
		}
		for _, want := range []string{w.Heading, w.OtherPage, `<td class="broken">✗</td>`, "<th><span>failover</span></th>",
			"playground.html" + w.Query, "default-src 'none'"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %q", w.Page, want)
			}
		}
	}
}

// HTML in a document is on its page, except comments, which are for tests: places, line breaks, what is folded.
func TestHTMLOfDocuments(t *testing.T) {
	s := &site{root: t.TempDir(), dir: t.TempDir()}
	const text = "# A\n\n[there](#place) one<br>two <!-- zzz -->\n\n<!-- zzz -->\n\n<a id=\"place\"></a>\n## B\n\n" +
		"<details><summary>more</summary>\n\nfolded\n\n</details>\n"
	if err := os.WriteFile(filepath.Join(s.root, "a.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.document("a.md"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "a.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one<br>two", `<a id="place"></a>`, "<details><summary>more</summary>", "</details>"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the page has no %s\n%s", want, b)
		}
	}
	if strings.Contains(string(b), "zzz") {
		t.Errorf("the page has a comment\n%s", b)
	}
}

// The places to which documents of the checkout lead are on their pages.
func TestPlacesOfTheCheckout(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{root: root, dir: t.TempDir()}
	if err := s.documents(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = s.check(t.Context())
	if err != nil && strings.Contains(err.Error(), "no such place") {
		t.Error(err)
	}
	if s.pages < 100 {
		t.Errorf("there are %d pages", s.pages)
	}
}
