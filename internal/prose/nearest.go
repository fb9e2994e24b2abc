package prose

import "strings"

// Choose lists the known words, after a suggestion of the nearest one.
func Choose(word string, known []string) string {
	list := "choose one of " + strings.Join(known, ", ")
	if near := DidYouMean(word, known); near != "" {
		return near + "Or " + list
	}
	return list
}

// DidYouMean is a question that ends with a space, or "" if no known word is
// near the given one.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "did you mean " + near + "? "
	}
	return ""
}

// Nearest is the known word nearest to the given one, or "" if none is near: a
// typing mistake changes two letters at most, and not most of them. Capitals are small letters here.
func Nearest(word string, known []string) string {
	word = strings.ToLower(word)
	best, least := "", min(2, len(word)/2)+1
	for _, k := range known {
		if len(word) > len(k)+2 {
			continue // not near, and to compare a very long word would take time
		}
		if d := edits([]rune(word), []rune(strings.ToLower(k))); d < least {
			best, least = k, d
		}
	}
	return best
}

// edits is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func edits(a, b []rune) int {
	row := make([][]int, len(a)+1)
	for i := range row {
		row[i] = make([]int, len(b)+1)
		row[i][0] = i
	}
	for j := range row[0] {
		row[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[i][j] = min(row[i-1][j]+1, row[i][j-1]+1, row[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[i][j] = min(row[i][j], row[i-2][j-2]+1)
			}
		}
	}
	return row[len(a)][len(b)]
}
