package console

import (
	"regexp"
	"strings"
)

var harmless = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// Quote quotes an argument for a shell, where that is necessary.
func Quote(arg string) string {
	if harmless.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
