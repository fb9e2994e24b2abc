package reports

import (
	"regexp"
	"strings"
)

// preamble are commands that open a connection or wait for news: they take and
// give no lock.
var preamble = map[string]bool{
	"hello": true, "client": true, "auth": true, "select": true, "ping": true, "script": true, "info": true,
	"subscribe": true, "unsubscribe": true, "psubscribe": true, "punsubscribe": true, "readonly": true, "readwrite": true,
}

// commandOf is a command that a node did, shortly, and its answer; ok is false for
// those that a diagram leaves out.
func commandOf(text string) (command, answer string, ok bool) {
	command, answer, _ = strings.Cut(text, " -> ")
	first, _, _ := strings.Cut(command, " ")
	if preamble[strings.ToLower(first)] || strings.HasPrefix(answer, "-NOSCRIPT") {
		return "", "", false
	}
	return shortCommand(command), clipped(answer, maxAnswer), true
}

// maxAnswer is how much of an answer a diagram shows, in characters.
const maxAnswer = 90

// randomID is the id of an owner: it tells a reader nothing, and is new with each
// attempt.
var randomID = regexp.MustCompile(` [0-9a-fA-F]{16,}\b`)

// scriptName is what the trace calls a script by: the first line of its text.
var scriptName = regexp.MustCompile(`^(?i:eval|evalsha) \[([^\]]*)\]`)

// shortCommand is a command without random ids, a script by its name alone.
func shortCommand(command string) string {
	if name := scriptName.FindStringSubmatch(command); name != nil {
		short, _, _ := strings.Cut(strings.TrimPrefix(name[1], "broken: "), ":")
		return clipped(short, maxCommand)
	}
	return clipped(randomID.ReplaceAllString(command, ""), maxCommand)
}

// maxCommand is how much of a command a diagram shows, in characters.
const maxCommand = 72

// storeCommand is an operation on the store, shortly: "write c0.w2 (token 1)".
func storeCommand(request string) (command string, ok bool) {
	f := strings.Fields(request)
	if len(f) < 5 || f[0] != "READ" && f[0] != "WRITE" {
		return "", false
	}
	command = strings.ToLower(f[0]) + " " + f[3]
	if f[4] != "0" {
		command += " (token " + f[4] + ")"
	}
	return command, true
}

// storeAnswer is the store's answer in words.
func storeAnswer(command, answer string) string {
	found, ok := strings.CutPrefix(answer, "OK")
	switch {
	case !ok:
		return clipped(refusal(answer), maxAnswer)
	case strings.HasPrefix(command, "write"):
		return "taken"
	case strings.TrimSpace(found) == "":
		return "nothing written yet"
	}
	return "found" + found
}

// refusal is the answer of a store that refuses, with the reason alone: which
// operation it is about stands beside it.
func refusal(answer string) string {
	_, reason, ok := strings.Cut(answer, " refused, ")
	if !ok || !strings.HasPrefix(answer, "REFUSED ") {
		return answer
	}
	return "REFUSED: " + strings.TrimSuffix(reason, ": stale operation")
}
