package redis

import (
	"slices"
	"strings"

	"locksim/sim/trace"
)

// Unknown implements [trace.Asking]: a command or an option that a server of this version does not have. A client that
// greets a server asks for what it may lack, and goes on without.
func (r Request) Unknown(answer trace.Content) string {
	a, ok := answer.(RESP)
	if !ok || len(r.args) == 0 || !strings.HasPrefix(string(a), "-ERR ") {
		return ""
	}
	command := strings.ToUpper(r.args[0])
	text := strings.ToLower(string(a[len("-ERR "):]))
	what := ""
	switch {
	case slices.Contains([]string{"HELLO", "CLIENT", "COMMAND", "INFO", "CONFIG"}, command):
	case strings.HasPrefix(text, "unknown command"):
		what = "the command " + command
	case strings.HasPrefix(text, "unknown subcommand"):
		what = "the subcommand " + strings.ToUpper(strings.Join(r.args[:min(len(r.args), 2)], " "))
	case runsScript(command) && strings.HasPrefix(text, "syntax error"):
		what = "an option of a command that a script calls"
	case strings.HasPrefix(text, "syntax error"):
		what = "an option or the form of the command " + command
	case runsScript(command) && strings.Contains(text, "unknown redis command called from"):
		what = "a command that a script calls"
	}
	if what == "" {
		return ""
	}
	return "Redis " + version + " does not know " + what
}
