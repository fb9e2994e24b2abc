package markdown

import (
	"strings"

	"locksim/internal/prose"
)

// signs are the characters with a meaning anywhere in a line, in Markdown or on
// GitHub, and how they are escaped. A space of no width follows @ and #, so that
// GitHub notifies no user and links no issue.
var signs = map[rune]string{
	'\\': `\\`, '`': "\\`", '*': `\*`, '_': `\_`, '[': `\[`, ']': `\]`, '|': `\|`, '~': `\~`,
	'<': "&lt;", '>': "&gt;", '&': "&amp;", '$': "<span>$</span>", '@': "@&#8203;", '#': `\#&#8203;`,
}

// literal escapes a text so that it does not become markup, a link or a mention. The
// text may follow other text, or begin a line, a cell or an item.
func literal(text string) string {
	text = strings.TrimSpace(prose.Visible(text))
	var b strings.Builder
	for i, r := range text {
		sign, special := signs[r]
		switch {
		case special:
			b.WriteString(sign)
		case r == ':' && strings.HasPrefix(text[i:], "://"):
			b.WriteString("&#58;")
		case r == '.' && endsInWWW(text[:i]):
			b.WriteString("&#46;")
		case beginsBlock(text, i):
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func endsInWWW(text string) bool {
	return len(text) >= 3 && strings.EqualFold(text[len(text)-3:], "www")
}

// beginsBlock reports whether the character at i would make a list, a rule or a heading
// of a line: a special first character, or the one after a leading number.
func beginsBlock(text string, i int) bool {
	digits := strings.TrimLeft(text, "0123456789")
	if at := len(text) - len(digits); at > 0 {
		return i == at && strings.ContainsRune(".)", rune(text[i])) && (i+1 == len(text) || text[i+1] == ' ')
	}
	return i == 0 && strings.ContainsRune("-+=", rune(text[0]))
}

// codeSpan is a text as code within a line, outside of tables.
func codeSpan(text string) string {
	text = prose.Visible(text)
	fence := strings.Repeat("`", longestRun(text)+1)
	if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// fenced is a block of code, with a fence that no line of it can end.
func fenced(language, text string) []string {
	fence := strings.Repeat("`", max(longestRun(text)+1, 3))
	lines := []string{fence + language}
	for line := range strings.Lines(strings.TrimRight(text, "\r\n")) {
		lines = append(lines, prose.Visible(strings.TrimRight(line, "\r\n")))
	}
	return append(lines, fence)
}

// longestRun is the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// folded are lines that a reader unfolds. The lines are Markdown.
func folded(title string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	all := append([]string{"<details>", "<summary>" + title + "</summary>", ""}, lines...)
	return append(all, "", "</details>")
}
