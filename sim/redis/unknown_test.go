package redis

import "testing"

// A command, a subcommand or an option that the server lacks is told from other errors, and from the greeting of a
// client.
func TestUnknown(t *testing.T) {
	const redis = "Redis " + version + " does not know "
	for _, tt := range []struct {
		args         []string
		answer, want string
	}{
		{[]string{"delifeq", "k", "me"}, "-ERR unknown command `delifeq`, with args beginning with: `k`, `me`, \r\n",
			redis + "the command DELIFEQ"},
		{[]string{"SET", "k", "v", "IFEQ", "w"}, "-ERR syntax error\r\n", redis + "an option or the form of the command SET"},
		{[]string{"script", "show"}, "-ERR unknown subcommand 'show'. Try SCRIPT HELP.\r\n",
			redis + "the subcommand SCRIPT SHOW"},
		{[]string{"EVAL", "return redis.call('DELIFEQ')", "0"}, "-ERR Unknown Redis command called from script script: x\r\n",
			redis + "a command that a script calls"},
		{[]string{"EVALSHA", "x", "0"}, "-ERR syntax error script: x\r\n", redis + "an option of a command that a " +
			"script calls"},
		{[]string{"CLIENT", "SETINFO", "LIB-NAME", "x"}, "-ERR unknown subcommand 'setinfo'. Try CLIENT HELP.\r\n", ""},
		{[]string{"HELLO", "3"}, "-ERR unknown command `HELLO`\r\n", ""},
		{[]string{"SET", "k", "v"}, "-READONLY You can't write against a read only replica.\r\n", ""},
		{[]string{"SET", "k", "v", "PX", "0"}, "-ERR invalid expire time in 'set' command\r\n", ""},
		{[]string{"GET", "k"}, "$12\r\nsyntax error\r\n", ""},
		{nil, "-ERR unknown command ``\r\n", ""},
	} {
		if got := (Request{args: tt.args}).Unknown(RESP(tt.answer)); got != tt.want {
			t.Errorf("%v, answered %q: got %q, want %q", tt.args, tt.answer, got, tt.want)
		}
	}
	if got := (Request{args: []string{"GET", "k"}}).Unknown(nil); got != "" {
		t.Errorf("without an answer: %q", got)
	}
}
