package markdown

import (
	"strings"

	"locksim/internal/prose"
)

// signs are the characters that Markdown, or GitHub's reading of it, acts
// on anywhere in a line, and what stands for them. Behind @ and # comes a space of
// no width, so that nobody is called and no issue is linked.
var signs = map[rune]string{
	'\\': `\\`, '`': "\\`", '*': `\*`, '_': `\_`, '[': `\[`, ']': `\]`, '|': `\|`, '~': `\~`,
	'<': "&lt;", '>': "&gt;", '&': "&amp;", '$': "<span>$</span>", '@': "@&#8203;", '#': `\#&#8203;`,
}

// literal keeps what others wrote from becoming markup, a link or a call. The
// text may stand behind others, or begin a line, a cell or an item.
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

// beginsBlock says that at the beginning of a line the sign at i would make a
// list, a rule or a heading of it: a sign, or the one behind a number.
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

// fenced are lines of code behind a fence that none of them can end.
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

// folded are lines that a reader unfolds. What is inside is Markdown.
func folded(title string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	all := append([]string{"<details>", "<summary>" + title + "</summary>", ""}, lines...)
	return append(all, "", "</details>")
}
