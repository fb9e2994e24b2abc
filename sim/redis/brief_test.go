package redis

import (
	"strings"
	"testing"

	"locksim/sim/trace"
)

// The short form of a request has no random ids, and names a script by its title. A request that is not part of a lock
// has none.
func TestBriefOfRequest(t *testing.T) {
	const id = "f8e4aab3b4c466eba34decbf268c273a"
	for _, tt := range []struct {
		args           []string
		script, answer string
		want           string
	}{
		{args: []string{"set", "lock:{order}", id, "ex", "10", "nx"}, answer: "+OK\r\n", want: "set lock:{order} ex 10 nx"},
		{args: []string{"del", "lock:{order}"}, want: "del lock:{order}"},
		{args: []string{"get", "lock:{order}"}, answer: "$-1\r\n", want: "get lock:{order}"},
		{
			args: []string{"evalsha", id, "2", "a", "b", "10000"}, answer: ":1\r\n",
			script: "[lock grant, fenced: take the lock (apart: F06).]", want: "lock grant, fenced",
		},
		{
			args: []string{"eval", "-- broken: …", "1", "lock:{order}"}, answer: ":0\r\n",
			script: "[broken: delete the key if it is the owner's]", want: "delete the key if it is the owner's",
		},
		{args: []string{"EVAL", "return 2", "0"}, answer: ":2\r\n", script: "7f923f79", want: "EVAL 7f923f79 0"},
		{args: []string{"evalsha", id, "2", "lock:{order}"}, script: "cf0a9463", answer: "-NOSCRIPT No matching script. " +
			"Please use EVAL.\r\n"},
		{args: []string{"HELLO", "3"}, answer: "+server miniredis\r\n"},
		{args: []string{"client", "setinfo", "LIB-NAME", "go-redis"}, answer: "-ERR unknown subcommand\r\n"},
		{args: []string{"SUBSCRIBE", "lock:{order}:released"}},
		{},
	} {
		var answer trace.Content
		if tt.answer != "" {
			answer = RESP(tt.answer)
		}
		if got := (Request{args: tt.args, script: tt.script}).Brief(answer); got != tt.want {
			t.Errorf("%v, answered %q: got %q, want %q", tt.args, tt.answer, got, tt.want)
		}
	}
}

// A request under way has a short form too, without the titles of scripts.
func TestBriefOfBytes(t *testing.T) {
	const id = "f8e4aab3b4c466eba34decbf268c273a"
	for in, want := range map[string]string{
		"*6\r\n$3\r\nset\r\n$1\r\nk\r\n$32\r\n" + id + "\r\n$2\r\nex\r\n$2\r\n10\r\n$2\r\nnx\r\n": "set k ex 10 nx",
		"*2\r\n$3\r\nget\r\n$1\r\nk\r\n":                                                "get k",
		"*3\r\n$7\r\nEVALSHA\r\n$40\r\n" + strings.Repeat("ab", 20) + "\r\n$1\r\n0\r\n": "EVALSHA 0",
		"*3\r\n$3\r\nset\r\n$1\r\nk\r\n$9\r\nvery l":                                    "set k very l",
		"get k\r\n":            "get k",
		"*1\r\n$4\r\nPING\r\n": "",
		"*1\r\n$4\r\nping\r\n": "",
		"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*1\r\n$4\r\nPING\r\n": "",
		"": "",
	} {
		if got := RESP(in).Brief(nil); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// The words of a request are those of its command, with a script's title in place of the script.
func TestWordsOfRequest(t *testing.T) {
	args := []string{"eval", "return 2", "1", "k"}
	for _, tt := range []struct {
		of   trace.Worded
		want string
	}{
		{Request{args: args}, "eval,return 2,1,k"},
		{Request{args: args, script: "[two]"}, "eval,[two],1,k"},
		{RESP("*2\r\n$3\r\nget\r\n$3\r\na b\r\n*1\r\n$4\r\nPING\r\n"), "get,a b"},
		{RESP("*3\r\n$3\r\nset\r\n$3\r\na b\r\n$9\r\nvery l"), "set,a b,very l"},
		{RESP("*3\r\n$3\r\nset\r\n$0\r\n\r\n$9\r\n"), "set,"},
		{RESP("*3\r\n$3\r\nset\r\n$3\r\na b\r"), "set,a b"},
		{RESP("*3\r\n$3\r\nset\r\n$1"), "set"},
		{RESP("*3\r\n"), ""},
		{RESP("*3"), ""},
		{RESP("*2\r\n$3\r\nget\r\n:2\r\n"), ""},
		{RESP("*2\r\n:1\r\n:2\r\n"), ""},
		{RESP(""), ""},
	} {
		if got := strings.Join(tt.of.Words(), ","); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.of, got, tt.want)
		}
	}
	if args[1] != "return 2" {
		t.Error("the words of a request have changed it")
	}
}

// An answer is negative if nothing was done or found, or if it is an error.
func TestNegative(t *testing.T) {
	for in, want := range map[string]bool{
		"$-1\r\n": true, "*-1\r\n": true, "_\r\n": true, ":0\r\n": true, "-ERR no\r\n": true,
		"-NOSCRIPT No matching script.\r\n": true,
		"+OK\r\n":                           false, ":1\r\n": false, "$1\r\na\r\n": false, "$0\r\n\r\n": false,
		"*0\r\n": false, ":-2\r\n": true,
		":10\r\n": false, "": false,
	} {
		if got := RESP(in).Negative(); got != want {
			t.Errorf("%q is negative: %v", in, got)
		}
	}
}
