// Package consulprograms has random programs of requests to the HTTP API of Consul, and plays one on any server: a
// real one, or a simulated one. What the server says is written so that two servers that do the same say the same.
package consulprograms

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Steps is the number of requests of a program.
const Steps = 24

// Ask sends a request to a server, and returns the code and the body of its answer.
type Ask func(method, path, body string) (code int, answer string, err error)

// Play plays the program of a seed: a line for each request and its answer, each with all keys as they are then. ids
// of sessions and indexes are replaced by the number of the request that made them. The keys have the seed in their
// names, since a lock-delay outlives a key; at the end they are deleted, and the sessions ended.
func Play(seed uint64, ask Ask) (lines []string, err error) {
	p := &player{ask: ask, keys: fmt.Sprintf("/v1/kv/p%d/", seed), draw: rand.New(rand.NewPCG(seed, 0)),
		old: map[string]uint64{}, now: map[string]uint64{},
		indexes: map[uint64]int{}}
	p.step(http.MethodPut, "/v1/session/create", `{"LockDelay": "0s"}`)
	p.step(http.MethodPut, "/v1/session/create", `{"Behavior": "delete", "TTL": "1h"}`)
	for p.err == nil && len(p.lines) < Steps {
		p.random()
	}
	for _, id := range p.ids {
		p.request(http.MethodPut, "/v1/session/destroy/"+id, "")
	}
	p.request(http.MethodDelete, p.keys+"?recurse", "")
	return p.lines, p.err
}

// player is a program that is played.
type player struct {
	ask   Ask
	keys  string // the path under which the keys of the program are
	draw  *rand.Rand
	lines []string
	err   error

	ids      []string          // of the sessions, in order
	now, old map[string]uint64 // the index of each key, and the one before
	indexes  map[uint64]int    // the step at which each index was first seen
}

func (p *player) pick(from ...string) string { return from[p.draw.IntN(len(from))] }

// unknown is the id of a session that no server has.
const unknown = "11111111-2222-3333-4444-555555555555"

func (p *player) session() string {
	switch n := p.draw.IntN(12); {
	case n == 0:
		return unknown
	case n == 1:
		return p.pick("x", "", strings.ToUpper(p.ids[0]), p.ids[0][:8])
	default:
		return p.ids[p.draw.IntN(len(p.ids))]
	}
}

// name is the whole name of a key.
func (p *player) name(key string) string { return strings.TrimPrefix(p.keys, "/v1/kv/") + key }

func (p *player) index(key string) string {
	switch p.draw.IntN(8) {
	case 0:
		return "0"
	case 1:
		return p.pick("x", "", "-1")
	case 2, 3:
		return strconv.FormatUint(p.old[p.name(key)], 10)
	default:
		return strconv.FormatUint(p.now[p.name(key)], 10)
	}
}

// random makes a random request.
func (p *player) random() {
	key := p.pick("a", "a", "a", "a/b", "c")
	value := p.pick("x", "x", "y", "")
	flags := p.pick("", "", "", "flags=7&", "flags=x&")
	put := func(query string) { p.step(http.MethodPut, p.keys+key+"?"+flags+query, value) }
	switch p.draw.IntN(24) {
	case 0, 1, 2, 3, 4:
		put("acquire=" + p.session())
	case 5, 6:
		put("release=" + p.session())
	case 7, 8:
		put("")
	case 9, 10:
		put("cas=" + p.index(key))
	case 11:
		put("cas=" + p.index(key) + "&acquire=" + p.session())
	case 12:
		p.step(http.MethodDelete, p.keys+key, "")
	case 13, 14:
		p.step(http.MethodDelete, p.keys+key+"?cas="+p.index(key), "")
	case 15:
		p.step(http.MethodDelete, p.pick(p.keys+"a?recurse", "/v1/kv/", p.keys+"a?recurse&cas=0", p.keys+"none?recurse"), "")
	case 16:
		p.step(http.MethodGet, p.keys+key+p.pick("", "?index=x", "?wait=x", "?stale&consistent", "?consistent", "?recurse",
			"?index=0", "?wait=1s"), "")
	case 17:
		p.step(http.MethodPut, "/v1/session/destroy/"+p.session(), "")
	case 18:
		p.step(http.MethodPut, "/v1/session/renew/"+p.session(), "")
	case 19:
		p.step(http.MethodGet, "/v1/session/info/"+p.session(), "")
	case 20:
		p.step(p.pick(http.MethodGet, http.MethodPost, http.MethodDelete), p.pick("/v1/session/create",
			"/v1/session/destroy/x",
			"/v1/session/renew/"+unknown), "")
	case 21:
		p.step(http.MethodPost, p.keys+key, value)
	default:
		p.step(http.MethodPut, "/v1/session/create", p.pick(``, `{}`, `{"TTL": "10s"}`, `{"TTL": "9s"}`, `{"TTL": "x"}`,
			`{"TTL": "0s"}`, `{"TTL": "25h"}`, `{"TTL": ""}`, `{"TTL": 10}`, `{"LockDelay": "5s"}`, `{"LockDelay": "90s"}`,
			`{"LockDelay": "500us"}`, `{"LockDelay": 5}`, `{"LockDelay": 15000000000}`, `{"LockDelay": "x"}`,
			`{"LockDelay": "-1s"}`, `{"LockDelay": null}`, `{"LockDelay": true}`, `{"Behavior": "delete"}`,
			`{"Behavior": "keep"}`, `{"Name": "n", "LockDelay": "0s"}`, `{"a":`, `[]`, `{"nosuch": 1}`,
			`{"ID": "`+unknown+`"}`, `{"NodeChecks": []}`, `{"Checks": []}`, `{"NodeChecks": ["serfHealth"]}`,
			`{"Checks": ["serfHealth"]}`, `{"NodeChecks": ["none"]}`, `{"Checks": [], "NodeChecks": []}`))
	}
}

// step makes a request, and adds the line that says what came of it.
func (p *player) step(method, path, body string) {
	code, answer := p.request(method, path, body)
	if path == "/v1/session/create" && code == http.StatusOK {
		var made struct{ ID string }
		if json.Unmarshal([]byte(answer), &made) == nil && made.ID != "" {
			p.ids = append(p.ids, made.ID)
		}
	}
	_, keys := p.request(http.MethodGet, p.keys+"?recurse", "")
	maps.Copy(p.old, p.now)
	said := p.said(answer)
	p.lines = append(p.lines, fmt.Sprintf("%s %s %s: %d %s; %s", method, p.named(path), body, code, said, p.said(keys)))
}

func (p *player) request(method, path, body string) (code int, answer string) {
	if p.err != nil {
		return 0, ""
	}
	code, answer, p.err = p.ask(method, path, body)
	return code, answer
}

// named replaces the ids of sessions, and in a path indexes too.
func (p *player) named(text string) string {
	text = strings.ReplaceAll(text, p.keys, "KEYS/")
	text = strings.ReplaceAll(text, p.name(""), "")
	for i, id := range p.ids {
		text = strings.ReplaceAll(text, id, fmt.Sprint("S", i))
		text = strings.ReplaceAll(text, strings.ToUpper(id), fmt.Sprint("UPPER", i))
		text = strings.ReplaceAll(text, id[:8], fmt.Sprint("SHORT", i))
	}
	for _, index := range slices.Sorted(maps.Keys(p.indexes)) {
		text = strings.ReplaceAll(text, fmt.Sprint("cas=", index, "&"), fmt.Sprint("cas=#", p.indexes[index], "&"))
		if rest, ok := strings.CutSuffix(text, fmt.Sprint("cas=", index)); ok {
			text = rest + fmt.Sprint("cas=#", p.indexes[index])
		}
	}
	return text
}

// said is a body: JSON with sorted names and without what depends on the server, another text as it is.
func (p *player) said(body string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if !json.Valid([]byte(body)) || d.Decode(&v) != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(body), "decode failed:") // what follows is in the words of a library
		return p.named(text)
	}
	b, err := json.Marshal(p.plain(v))
	if err != nil {
		p.err = err
	}
	return p.named(string(b))
}

// plain replaces indexes by the steps at which they were first seen, and drops the name of the node.
func (p *player) plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = p.plain(v[i])
		}
	case map[string]any:
		if name, ok := v["Key"].(string); ok {
			if n, ok := v["ModifyIndex"].(json.Number); ok {
				p.now[name], _ = strconv.ParseUint(n.String(), 10, 64)
			}
		}
		delete(v, "Node")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if n, ok := v[name].(json.Number); ok && (name == "CreateIndex" || name == "ModifyIndex") {
				v[name] = p.seen(n)
				continue
			}
			v[name] = p.plain(v[name])
		}
	}
	return v
}

func (p *player) seen(n json.Number) string {
	index, err := strconv.ParseUint(n.String(), 10, 64)
	if err != nil {
		p.err = err
	}
	if _, ok := p.indexes[index]; !ok {
		p.indexes[index] = len(p.lines)
	}
	return fmt.Sprint("#", p.indexes[index])
}
