package markdown

import (
	"strings"
	"testing"
)

// A text stays text at any position on a page. Module markdowntest checks with a parser;
// this test also covers what GitHub adds to Markdown.
func TestLiteral(t *testing.T) {
	for in, want := range map[string]string{
		"c0's write c0.w2 (step 20), 9.674s": "c0's write c0.w2 (step 20), 9.674s",
		"a|b*c_d[e](f)`g`~h~\\":              "a\\|b\\*c\\_d\\[e\\](f)\\`g\\`\\~h\\~\\\\",
		"<b>&amp;</b>":                       "&lt;b&gt;&amp;amp;&lt;/b&gt;",
		"@team #12":                          `@&#8203;team \#&#8203;12`,
		"see https://a.b and www.c.d":        "see https&#58;//a.b and www&#46;c.d",
		"$x$":                                "<span>$</span>x<span>$</span>",
		"- a":                                `\- a`,
		"1. a":                               `1\. a`,
		"12) a":                              `12\) a`,
		"1.5s":                               "1.5s",
		"=== a":                              `\=== a`,
		" two\nlines\x1b ":                   "two lines\ufffd",
		"":                                   "",
	} {
		if got := literal(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestCodeSpan(t *testing.T) {
	for in, want := range map[string]string{
		"abc": "`abc`", "a`b": "``a`b``", "`": "`` ` ``", "a``": "``` a`` ```", "": "`  `", "a\nb": "`a b`",
	} {
		if got := codeSpan(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// No line of a text ends the fence around it.
func TestFenced(t *testing.T) {
	got := fenced("yaml", "a: 1\r\n````\n\x1b[2J\n\n")
	want := []string{"`````yaml", "a: 1", "````", "\ufffd[2J", "`````"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
}

// No character of a text has a meaning in mermaid, Markdown or HTML.
func TestMermaidText(t *testing.T) {
	for in, want := range map[string]string{
		"0.018s set lock ex 10 nx":  "0.018s set lock ex 10 nx",
		"a;b#c:d%%e<br>\"f\"`g`$h@": "a#59;b#35;c#58;d#37;#37;e#60;br#62;#34;f#34;#96;g#96;#36;h#64;",
		"wrap:\nend":                "wrap#58; end",
		"naïve 日本":                  "naïve 日本",
		"\x1b[31m":                  "#65533;#91;31m",
	} {
		if got := mermaidText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestMermaidLabelIsShort(t *testing.T) {
	got := mermaidLabel(strings.Repeat("word; ", 200))
	if n := strings.Count(got, "<br/>"); n != mermaidLines-1 || !strings.HasSuffix(got, " …") {
		t.Errorf("%d breaks: %s", n, got)
	}
}
