package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/prose"
	"locksim/lock/fence"
)

// parseModes reads "none,check,seal".
func parseModes(text string) ([]fence.Mode, error) {
	var modes []fence.Mode
	for _, name := range strings.Split(text, ",") {
		m, err := parseMode(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("--fencing %s: %w", console.Quote(text), err)
		}
		if slices.Contains(modes, m) {
			return nil, fmt.Errorf("--fencing %s: mode %s is named twice: name each mode once", console.Quote(text), m)
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

// exactly requires n arguments; what describes them in the error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return fmt.Errorf("%s takes %s, and got %s: see %[1]s --help", cmd.CommandPath(), what,
			prose.Count(len(args), "argument"))
	}
}

// atMostOne allows one argument or none; what describes it in the error.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return fmt.Errorf("%s takes %s, and got %s: see %[1]s --help", cmd.CommandPath(), what,
			prose.Count(len(args), "argument"))
	}
}
