package consul

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
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

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// read reads a request. The error is [errUnknown], or says what is wrong with the request.
func read(r *http.Request, body []byte) (request, error) {
	q := request{mode: modeDefault}
	query := r.URL.Query()
	if key, ok := strings.CutPrefix(r.URL.Path, "/v1/kv/"); ok {
		return q.kv(r.Method, key, query, body)
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/v1/session/")
	verb, id, _ := strings.Cut(rest, "/")
	if !ok {
		return q, fmt.Errorf("%w: %s %s", errUnknown, r.Method, r.URL.Path)
	}
	if verb == "create" && r.Method == http.MethodPut {
		return q.create(body)
	}
	if !uuid.MatchString(id) {
		return q, fmt.Errorf("%q is no session id", id)
	}
	q.entry.Session = id
	switch {
	case verb == "destroy" && r.Method == http.MethodPut:
		q.does, q.entry.Op = doesWrite, opDestroy
	case verb == "renew" && r.Method == http.MethodPut:
		q.does = doesRenew
	case verb == "info" && r.Method == http.MethodGet:
		q.does = doesInfo
		return q.reads(query)
	default:
		return q, fmt.Errorf("%w: %s %s", errUnknown, r.Method, r.URL.Path)
	}
	return q, nil
}

func (q request) reads(query url.Values) (request, error) {
	stale, consistent := query.Has("stale"), query.Has("consistent")
	switch {
	case stale && consistent:
		return q, errors.New("cannot specify ?stale with ?consistent, conflicting semantics")
	case stale:
		q.mode = modeStale
	case consistent:
		q.mode = modeConsistent
	}
	q.wait = defaultWait
	if text := query.Get("wait"); text != "" {
		wait, err := time.ParseDuration(text)
		if err != nil {
			return q, errors.New("invalid wait time")
		}
		if wait > 0 {
			q.wait = min(wait, maxWait)
		}
	}
	if text := query.Get("index"); text != "" {
		index, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return q, errors.New("invalid index")
		}
		q.index = index
	}
	return q, nil
}

func (q request) kv(method, key string, query url.Values, body []byte) (request, error) {
	for _, other := range []string{"keys", "raw", "separator", "dc", "ns", "partition"} {
		if query.Has(other) {
			return q, fmt.Errorf("%w: the parameter %s", errUnknown, other)
		}
	}
	q.entry = entry{Key: key, Value: body, Prefix: query.Has("recurse")}
	if key == "" && !q.entry.Prefix {
		return q, errors.New("missing key name")
	}
	var err error
	number := func(name string) (n uint64) {
		if text := query.Get(name); text != "" && err == nil {
			n, err = strconv.ParseUint(text, 10, 64)
		}
		return n
	}
	switch method {
	case http.MethodGet:
		q.does, q.entry.Value = doesRead, nil
		return q.reads(query)
	case http.MethodDelete:
		q.does = doesWrite
		q.entry.Op, q.entry.Value, q.entry.Checked, q.entry.Index = opDelete, nil, query.Has("cas"), number("cas")
	case http.MethodPut:
		q.does, q.entry.Op, q.entry.Flags = doesWrite, opSet, number("flags")
		many := 0
		for name, op := range map[string]op{"cas": opCAS, "acquire": opAcquire, "release": opRelease} {
			if query.Has(name) {
				q.entry.Op, many = op, many+1
			}
		}
		if many > 1 {
			return q, errors.New("conflicting flags: give one of cas, acquire and release")
		}
		q.entry.Index = number("cas")
		if q.entry.Op == opAcquire || q.entry.Op == opRelease {
			q.entry.Session = query.Get(string(q.entry.Op))
		}
	default:
		return q, fmt.Errorf("%w: the method %s", errUnknown, method)
	}
	return q, err
}

// create reads a request for a session.
func (q request) create(body []byte) (request, error) {
	var in struct {
		Name, Node, TTL string
		LockDelay       *string
		Behavior        behavior
		Checks          []string
		NodeChecks      *[]string
		ServiceChecks   []json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil && len(bytes.TrimSpace(body)) > 0 {
		return q, fmt.Errorf("Request decode failed: %w", err) //nolint:staticcheck // in Consul's words
	}
	if in.Node != "" || len(in.ServiceChecks) > 0 || len(in.Checks) > 0 || in.NodeChecks != nil {
		return q, fmt.Errorf("%w: a session of another node, or with other checks than serfHealth", errUnknown)
	}
	made := session{
		Name: in.Name, LockDelay: defaultLockDelay, Behavior: behaviorRelease, TTL: in.TTL,
		NodeChecks: []string{"serfHealth"},
	}
	if in.LockDelay != nil {
		delay, err := time.ParseDuration(*in.LockDelay)
		if err != nil || delay < 0 {
			return q, fmt.Errorf("invalid LockDelay %q", *in.LockDelay)
		}
		made.LockDelay = min(delay, maxLockDelay)
	}
	switch in.Behavior {
	case "", behaviorRelease:
	case behaviorDelete:
		made.Behavior = behaviorDelete
	default:
		return q, fmt.Errorf("Invalid Behavior setting '%s'", in.Behavior) //nolint:staticcheck // in Consul's words
	}
	q.does, q.entry = doesCreate, entry{Op: opCreate, Made: &made}
	if in.TTL != "" {
		ttl, err := time.ParseDuration(in.TTL)
		if err != nil || ttl != 0 && (ttl < minTTL || ttl > maxTTL) {
			//nolint:staticcheck // in Consul's words
			return q, fmt.Errorf("Invalid Session TTL '%s', must be between [%v=%v]", in.TTL, minTTL, maxTTL)
		}
		q.entry.TTL = ttl
	}
	return q, nil
}

// encode is a value as the HTTP API writes it.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error()) // no value of this package has one
	}
	return b
}
