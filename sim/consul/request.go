package consul

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// does is what a request asks for.
type does string

const (
	doesRead   does = "read"
	doesInfo   does = "session info"
	doesRenew  does = "renew"
	doesCreate does = "session create"
	doesWrite  does = "write"
)

// mode is a consistency mode, by the name of its parameter.
type mode string

const (
	modeDefault    mode = "leader"
	modeConsistent mode = "consistent"
	modeStale      mode = "stale"
)

// request is what a client asks for.
type request struct {
	does  does
	mode  mode  // of a read
	entry entry // a write; of a read its key, and whether that is a prefix
	// through is the server that took the request.
	through string
	index   uint64        // after which a read is to be answered
	wait    time.Duration // for how long at most
}

func (q request) isWrite() bool { return q.does != doesRead && q.does != doesInfo }

// longest is how long the request may wait for a change.
func (q request) longest() time.Duration {
	if q.index == 0 {
		return 0
	}
	return q.wait
}

// key is what a read is about.
func (q request) key() string { return q.entry.Key + q.entry.Session }

// The times of requests.
const (
	minTTL, maxTTL   = 10 * time.Second, 24 * time.Hour
	defaultLockDelay = 15 * time.Second
	maxLockDelay     = time.Minute
	defaultWait      = 5 * time.Minute
	maxWait          = 10 * time.Minute
)

// errUnknown is the error of a request that these servers do not have.
var errUnknown = errors.New("the Consul of locksim has sessions and the KV store only")

// refusal is an error of a request, in Consul's words.
type refusal struct {
	code int
	text string
}

func (r refusal) Error() string { return r.text }

// malformed refuses a request that Consul cannot read.
func malformed(format string, a ...any) error {
	return refusal{http.StatusBadRequest, fmt.Sprintf(format, a...)}
}

// codeOf is the code of the answer to a request with an error.
func codeOf(err error) int {
	if r, ok := errors.AsType[refusal](err); ok {
		return r.code
	}
	if errors.Is(err, errUnknown) {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// allow refuses a method that is not among those of a path.
func allow(method string, methods ...string) error {
	if slices.Contains(methods, method) {
		return nil
	}
	return refusal{http.StatusMethodNotAllowed, fmt.Sprintf("method %s not allowed", method)}
}

// read reads a request.
func read(r *http.Request, body []byte) (request, error) {
	q := request{mode: modeDefault}
	query := r.URL.Query()
	if key, ok := strings.CutPrefix(r.URL.Path, "/v1/kv/"); ok {
		return q.kv(r.Method, key, query, body)
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/v1/session/")
	verb, id, _ := strings.Cut(rest, "/")
	method := http.MethodPut
	switch {
	case ok && rest == "create":
	case ok && verb == "destroy":
		q.does, q.entry.Op = doesWrite, opDestroy
	case ok && verb == "renew":
		q.does = doesRenew
	case ok && verb == "info":
		q.does, method = doesInfo, http.MethodGet
	default:
		return q, fmt.Errorf("%w: %s %s", errUnknown, r.Method, r.URL.Path)
	}
	if err := allow(r.Method, method); err != nil {
		return q, err
	}
	if err := known(query, reading...); err != nil {
		return q, err
	}
	if verb == "create" {
		return q.create(body)
	}
	if verb != "destroy" {
		if err := q.reads(query); err != nil {
			return q, err
		}
	}
	if id == "" {
		return q, malformed("Missing session")
	}
	q.entry.Session = id
	return q, nil
}

// reading are the options of a read, and options those of the KV store, by method.
var (
	reading = []string{"index", "wait", "stale", "consistent"}
	options = map[string][]string{
		http.MethodGet:    append([]string{"recurse"}, reading...),
		http.MethodPut:    append([]string{"cas", "acquire", "release", "flags"}, reading...),
		http.MethodDelete: append([]string{"cas", "recurse"}, reading...),
	}
)

// known refuses an option that is not modelled: it would be ignored.
func known(query url.Values, names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%w: the parameter %s", errUnknown, name)
		}
	}
	return nil
}

// reads reads how a read is to be answered, and when.
func (q *request) reads(query url.Values) (err error) {
	q.wait = defaultWait
	if text := query.Get("wait"); text != "" {
		wait, err := time.ParseDuration(text)
		if err != nil {
			return malformed("Invalid wait time")
		}
		if wait > 0 {
			q.wait = min(wait, maxWait)
		}
	}
	if text := query.Get("index"); text != "" {
		if q.index, err = strconv.ParseUint(text, 10, 64); err != nil {
			return malformed("Invalid index")
		}
	}
	stale, consistent := query.Has("stale"), query.Has("consistent")
	switch {
	case stale && consistent:
		return malformed("Cannot specify ?stale with ?consistent, conflicting semantics.")
	case stale:
		q.mode = modeStale
	case consistent:
		q.mode = modeConsistent
	}
	return nil
}

// kv reads a request of the KV store. A number that is none is Consul's own mistake, by its code: 500.
func (q request) kv(method, key string, query url.Values, body []byte) (request, error) {
	if err := allow(method, http.MethodGet, http.MethodPut, http.MethodDelete); err != nil {
		return q, err
	}
	if err := known(query, options[method]...); err != nil {
		return q, err
	}
	if err := q.reads(query); err != nil {
		return q, err
	}
	whole := method == http.MethodPut
	q.entry = entry{Key: key, Prefix: query.Has("recurse")}
	switch method {
	case http.MethodGet:
		q.does = doesRead
	case http.MethodDelete:
		q.does, q.entry.Op, q.entry.Checked = doesWrite, opDelete, query.Has("cas")
		if q.entry.Checked && q.entry.Prefix {
			return q, malformed("Conflicting flags: %s", query.Encode())
		}
	}
	if key == "" && !q.entry.Prefix {
		return q, malformed("Missing key name")
	}
	var err error
	if whole {
		q.does, q.entry.Op, q.entry.Value = doesWrite, opSet, body
		many := 0
		for name, op := range map[string]op{"cas": opCAS, "acquire": opAcquire, "release": opRelease} {
			if query.Has(name) {
				q.entry.Op, many = op, many+1
			}
		}
		if many > 1 {
			return q, malformed("Conflicting flags: %s", query.Encode())
		}
		if q.entry.Op == opAcquire || q.entry.Op == opRelease {
			q.entry.Session = query.Get(string(q.entry.Op))
		}
		if query.Has("flags") {
			q.entry.Flags, err = strconv.ParseUint(query.Get("flags"), 10, 64)
		}
	}
	if query.Has("cas") && q.does == doesWrite && err == nil {
		q.entry.Index, err = strconv.ParseUint(query.Get("cas"), 10, 64)
	}
	return q, err
}

// serfHealth is the check of each node, and the only one that these servers have.
const serfHealth = "serfHealth"

// create reads a request for a session.
func (q request) create(body []byte) (request, error) {
	checks := []string{serfHealth}
	in := struct {
		Name, Node, TTL    string
		LockDelay          any
		Behavior           behavior
		Checks, NodeChecks []string
		ServiceChecks      []json.RawMessage
	}{Checks: checks, NodeChecks: checks}
	if len(body) > 0 {
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&in); err != nil {
			return q, malformed("Request decode failed: %v", err)
		}
	}
	if len(in.ServiceChecks) > 0 {
		return q, fmt.Errorf("%w: a session with checks of services", errUnknown)
	}
	delay, err := lockDelay(in.LockDelay)
	if err != nil {
		return q, err
	}
	made := session{
		Name: in.Name, Node: in.Node, LockDelay: delay, Behavior: in.Behavior, TTL: in.TTL,
		NodeChecks: in.NodeChecks,
	}
	switch {
	case len(in.Checks) == 0: // as clients asked for a session without checks before 1.7
		made.NodeChecks = []string{}
	case slices.Equal(in.Checks, checks), len(in.NodeChecks) == 0:
	default:
		made.NodeChecks = append(slices.Clone(in.NodeChecks), in.Checks...)
	}
	q.does, q.entry = doesCreate, entry{Op: opCreate, Made: &made}
	switch made.Behavior {
	case "":
		made.Behavior = behaviorRelease
	case behaviorRelease, behaviorDelete:
	default:
		return q, failure(fmt.Sprintf("Invalid Behavior setting '%s'", in.Behavior))
	}
	if in.TTL == "" {
		return q, nil
	}
	ttl, err := time.ParseDuration(in.TTL)
	if err != nil {
		return q, failure(fmt.Sprintf("Session TTL '%s' invalid: %v", in.TTL, err))
	}
	if ttl != 0 && (ttl < minTTL || ttl > maxTTL) {
		return q, failure(fmt.Sprintf("Invalid Session TTL '%d', must be between [%v=%v]", ttl, minTTL, maxTTL))
	}
	q.entry.TTL = ttl
	return q, nil
}

// lockDelay is a lock-delay as Consul reads it: a text with a unit, or a number of nanoseconds. Less than 1000 of them
// are taken for seconds, and another value for 0.
func lockDelay(in any) (delay time.Duration, err error) {
	switch v := in.(type) {
	case nil:
		return defaultLockDelay, nil
	case string:
		if delay, err = time.ParseDuration(v); err != nil {
			return 0, malformed("Request decode failed: %v", err)
		}
	case float64:
		delay = time.Duration(v)
	}
	if delay < 1000 {
		delay *= time.Second
	}
	return delay, nil
}

// encode is a value as the HTTP API writes it.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error()) // no value of this package has one
	}
	return b
}
