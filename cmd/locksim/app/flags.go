package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/internal/prose"
	"locksim/lock/fence"
)

// words are the parts of lists with commas.
func words(lists []string) []string {
	var all []string
	for _, list := range lists {
		for _, word := range strings.Split(list, ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
	}
	return all
}

// parseModes reads "none,check,seal".
func parseModes(text string) ([]fence.Mode, error) {
	var modes []fence.Mode
	for _, name := range strings.Split(text, ",") {
		m, err := parseMode(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("--fencing %s: %w", quote(text), err)
		}
		if slices.Contains(modes, m) {
			return nil, fmt.Errorf("--fencing %s: mode %s is there twice: name each mode once", quote(text), m)
		}
		modes = append(modes, m)
	}
	return modes, nil
}

func parseMode(name string) (fence.Mode, error) {
	m, err := fence.ParseMode(name)
	if err != nil {
		return "", fmt.Errorf("there is no fencing mode %q: %s", name, prose.Choose(name, modeNames()))
	}
	return m, nil
}

func modeNames() []string {
	var names []string
	for _, m := range fence.Modes() {
		names = append(names, string(m))
	}
	return names
}

func joinModes(modes []fence.Mode) string {
	var names []string
	for _, m := range modes {
		names = append(names, string(m))
	}
	return strings.Join(names, ",")
}

var harmless = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// quote writes an argument as a shell would read it back.
func quote(arg string) string {
	if harmless.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// exactly demands a number of arguments and says what they are.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return fmt.Errorf("%s takes %s, and got %d arguments: see %[1]s --help", cmd.CommandPath(), what, len(args))
	}
}

// atMostOne takes one argument or none, and says what it would be.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return fmt.Errorf("%s takes %s, and got %d arguments: see %[1]s --help", cmd.CommandPath(), what, len(args))
	}
}
