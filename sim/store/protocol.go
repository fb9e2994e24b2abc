package store

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"locksim/sim/trace"
)

// The protocol consists of lines:
//
//	READ resource register op token grant -
//	WRITE resource register op token grant base
//
// where the resource is escaped as in the path of a URL, grant is the id of the sender's grant, base the id of the
// operation that the write is based on, "-" for none. The answer is "OK value", "REFUSED reason" or "ERROR message".

// absent stands for an empty word on the wire.
const absent = "-"

// requestLine is an operation on the wire, without the line break.
func requestLine(op Op, write bool) string {
	verb := "READ"
	if write {
		verb = "WRITE"
	}
	return fmt.Sprintf("%s %s %s %s %d %s %s", verb, url.PathEscape(op.Resource), op.Register, op.ID, op.Token,
		cmp.Or(op.Grant, absent), cmp.Or(op.Base, absent))
}

// parseRequest reads an operation, without a decision.
func parseRequest(line string) (trace.Decision, error) {
	f := strings.Fields(line)
	if len(f) != 7 || f[0] != "READ" && f[0] != "WRITE" {
		return trace.Decision{}, fmt.Errorf("want READ or WRITE with resource, register, operation, token, grant and base, "+
			"got %q", line)
	}
	token, err := strconv.ParseUint(f[4], 10, 64)
	if err != nil {
		return trace.Decision{}, fmt.Errorf("token %q is not a number", f[4])
	}
	resource, err := url.PathUnescape(f[1])
	if err != nil {
		return trace.Decision{}, fmt.Errorf("resource %q: %w", f[1], err)
	}
	return trace.Decision{Write: f[0] == "WRITE", Resource: resource, Register: f[2], Op: f[3], Token: token,
		Grant: present(f[5]), Base: present(f[6])}, nil
}

func present(word string) string {
	if word == absent {
		return ""
	}
	return word
}

func parseAnswer(answer string) (value string, err error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(answer), " ")
	switch verb {
	case "OK":
		return rest, nil
	case "REFUSED":
		return "", fmt.Errorf("%w: %s", ErrRefused, rest)
	}
	return "", fmt.Errorf("the store answered %q", answer)
}
