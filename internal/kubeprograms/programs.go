// Package kubeprograms has random programs of requests for leases of Kubernetes, and plays one on any API server: a
// real one, or a simulated one. What the server says is written so that two servers that do the same say the same.
package kubeprograms

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// Steps is the number of requests of a program.
const Steps = 20

// Ask sends a request with a content type to a server, and returns the code and the body of its answer.
type Ask func(method, path, contentType, body string) (code int, answer string, err error)

// Play plays the program of a seed: a line for each request and its answer. Ids and versions are replaced by the
// number of the request that made them. The leases of the program are in a namespace of its own.
func Play(seed uint64, ask Ask) (lines []string, err error) {
	p := &player{
		ask: ask, draw: rand.New(rand.NewPCG(seed, 0)), namespace: fmt.Sprint("p", seed),
		last: map[string]object{}, versions: map[string]int{}, uids: map[string]int{},
	}
	for p.err == nil && len(p.lines) < Steps {
		p.random()
	}
	return p.lines, p.err
}

type object = map[string]any

// player is a program that is played.
type player struct {
	ask       Ask
	draw      *rand.Rand
	namespace string
	lines     []string
	err       error

	last     map[string]object // each lease as it was last answered
	versions map[string]int    // the steps at which versions were first seen
	uids     map[string]int
}

func (p *player) pick(from ...string) string { return from[p.draw.IntN(len(from))] }

// base is the path of the leases.
func (p *player) base() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + p.namespace + "/leases"
}

// lease is a lease with random contents, of the version that was last seen.
func (p *player) lease(name string) (l, metadata, spec object) {
	spec = object{
		"holderIdentity": p.pick("h1", "h2", ""), "leaseDurationSeconds": 15, "leaseTransitions": p.draw.IntN(3),
		"renewTime": fmt.Sprintf("2026-11-28T08:00:%02d.%06dZ", p.draw.IntN(60), p.draw.IntN(1_000_000)),
	}
	metadata = object{"name": name, "namespace": p.namespace}
	if v := p.version(name); v != nil {
		metadata["resourceVersion"] = v
	}
	return object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}, metadata,
		spec
}

// of is a field of the metadata of a lease that was seen; nil if there is none.
func (p *player) of(name, field string) any {
	if l, ok := p.last[name]; ok {
		return l["metadata"].(object)[field]
	}
	return nil
}

func (p *player) version(name string) any { return p.of(name, "resourceVersion") }

// kinds are the kinds of requests; those of an election are drawn more often.
var kinds = strings.Fields(`
	get create create put put put put put get-cached get-version list list-one stale without-version
	no-version future-version uid wrong-uid same other-name other-namespace negative zero pod empty
	garbage create-version dry-create dry-put upper generate labels without-spec unknown-field timeout
	delete delete delete-uid delete-wrong-uid delete-version delete-dry merge merge-version merge-none
	json-patch post-name collection watch`)

func (p *player) random() {
	name := p.pick("a", "a", "b")
	l, metadata, spec := p.lease(name)
	one, all := p.base()+"/"+name, p.base()
	kind := p.pick(kinds...)
	put := func(query string) { p.step(kind, http.MethodPut, one+query, l) }
	create := func(query string) { p.step(kind, http.MethodPost, all+query, l) }
	switch kind {
	case "get":
		p.step(kind, http.MethodGet, one, nil)
	case "get-cached":
		p.settle()
		p.step(kind, http.MethodGet, one+"?resourceVersion=0", nil)
	case "get-version":
		p.settle()
		p.step(kind, http.MethodGet, fmt.Sprint(one, "?resourceVersion=", orNone(p.version(name))), nil)
	case "list":
		p.step(kind, http.MethodGet, all, nil)
	case "list-one":
		p.step(kind, http.MethodGet, all+"?fieldSelector=metadata.name%3D"+name, nil)
	case "create":
		delete(metadata, "resourceVersion")
		create("")
	case "create-version":
		metadata["resourceVersion"] = "5"
		create("")
	case "dry-create":
		delete(metadata, "resourceVersion")
		create("?dryRun=All")
	case "upper":
		metadata["name"] = "Upper_" + name
		delete(metadata, "resourceVersion")
		create("")
	case "generate":
		delete(metadata, "resourceVersion")
		delete(metadata, "name")
		metadata["generateName"] = "gen-"
		create("")
	case "post-name":
		delete(metadata, "resourceVersion")
		p.step(kind, http.MethodPost, one, l)
	case "collection":
		p.step(kind, http.MethodPut, all, l)
	case "put":
		put("")
	case "timeout":
		put("?timeout=5s")
	case "dry-put":
		put("?dryRun=All")
	default:
		p.odd(kind, name, l, metadata, spec)
	}
}

// odd makes a request that no election makes.
func (p *player) odd(kind, name string, l, metadata, spec object) {
	one, all := p.base()+"/"+name, p.base()
	put := func(query string) { p.step(kind, http.MethodPut, one+query, l) }
	options := func(o object) {
		o["apiVersion"], o["kind"] = "meta.k8s.io/v1", "DeleteOptions"
		p.step(kind, http.MethodDelete, one, o)
	}
	switch kind {
	case "stale":
		metadata["resourceVersion"] = "1"
		put("")
	case "without-version":
		delete(metadata, "resourceVersion")
		put("")
	case "no-version":
		metadata["resourceVersion"] = "x"
		put("")
	case "future-version":
		metadata["resourceVersion"] = "99999999"
		put("")
	case "uid":
		if uid := p.of(name, "uid"); uid != nil {
			metadata["uid"] = uid
		}
		put("")
	case "wrong-uid":
		metadata["uid"] = "00000000-0000-0000-0000-000000000001"
		put("")
	case "same":
		if last, ok := p.last[name]; ok {
			l = last
		}
		put("")
	case "other-name":
		metadata["name"] = "other"
		put("")
	case "other-namespace":
		metadata["namespace"] = "other"
		put("")
	case "negative":
		spec["leaseTransitions"] = -1
		put("")
	case "zero":
		spec["leaseDurationSeconds"] = 0
		put("")
	case "pod":
		l["kind"] = "Pod"
		put("")
	case "empty":
		p.step(kind, http.MethodPut, one, "")
	case "garbage":
		p.step(kind, http.MethodPut, one, `{"a":`)
	case "labels":
		metadata["labels"], metadata["annotations"] = object{"a": "b"}, object{"c": "d"}
		metadata["finalizers"] = []string{}
		put("")
	case "without-spec":
		delete(l, "spec")
		put("")
	case "unknown-field":
		spec["nosuch"] = 1
		put("")
	case "delete":
		p.step(kind, http.MethodDelete, one, nil)
	case "delete-uid":
		options(object{"preconditions": object{"uid": orNone(p.of(name, "uid"))}})
	case "delete-wrong-uid":
		options(object{"preconditions": object{"uid": "00000000-0000-0000-0000-000000000001"}})
	case "delete-version":
		options(object{"preconditions": object{"resourceVersion": orNone(p.version(name))}})
	case "delete-dry":
		options(object{"dryRun": []string{"All"}})
	case "merge":
		p.step(kind, http.MethodPatch, one, object{"spec": object{"holderIdentity": spec["holderIdentity"]}})
	case "merge-version":
		p.step(kind, http.MethodPatch, one, object{"metadata": object{"resourceVersion": p.pick("1",
			fmt.Sprint(orNone(p.version(name))))},
			"spec": object{"leaseTransitions": spec["leaseTransitions"]}})
	case "merge-none":
		p.step(kind, http.MethodPatch, one, object{"spec": object{"renewTime": nil}})
	case "json-patch":
		p.step(kind, http.MethodPatch, one, []any{object{"op": "replace", "path": "/spec/holderIdentity", "value": "h3"}})
	case "watch":
		p.settle()
		p.step(kind, http.MethodGet, all+"?watch=true&timeoutSeconds=1&resourceVersion="+p.pick("0", "")+
			p.pick("", "&fieldSelector=metadata.name%3D"+name), nil)
	}
}

// settle asks until the cache of the server has what its store has.
func (p *player) settle() {
	items := func(query string) string {
		_, answer, err := p.ask(http.MethodGet, p.base()+query, "application/json", "")
		var list struct{ Items []json.RawMessage }
		if err == nil {
			err = json.Unmarshal([]byte(answer), &list)
		}
		if err != nil && p.err == nil {
			p.err = err
		}
		return fmt.Sprintf("%s", list.Items)
	}
	for p.err == nil && items("") != items("?resourceVersion=0") {
	}
}

func orNone(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// step makes a request, and adds the line that says what came of it.
func (p *player) step(kind, method, path string, body any) {
	text, isText := body.(string)
	if !isText && body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			p.err = err
			return
		}
		text = string(b)
	}
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
		if strings.HasPrefix(text, "[") {
			contentType = "application/json-patch+json"
		}
	}
	code, answer, err := p.ask(method, path, contentType, text)
	if err != nil {
		p.err = err
		return
	}
	said := p.said(answer, !strings.Contains(kind, "dry"))
	p.lines = append(p.lines, fmt.Sprintf("%s %s: %d %s", kind, p.named(path[strings.Index(path, "/leases"):]), code,
		said))
}

// said is an answer: each object of it, and other text as it is.
func (p *player) said(answer string, real bool) string {
	var parts []string
	for d := json.NewDecoder(strings.NewReader(answer)); ; {
		var o object
		if err := d.Decode(&o); err != nil {
			break
		}
		parts = append(parts, p.object(o, real))
	}
	if len(parts) == 0 {
		return p.named(strings.TrimSpace(answer))
	}
	slices.Sort(parts) // as those of a list; a watch of a program has nothing but what was there before
	return strings.Join(parts, "; ")
}

// object is one object of an answer in words.
func (p *player) object(o object, real bool) string {
	if inner, ok := o["object"].(object); ok { // of a watch
		return fmt.Sprint(o["type"], " ", p.object(inner, real))
	}
	metadata, _ := o["metadata"].(object)
	switch o["kind"] {
	case "Status":
		details, _ := json.Marshal(o["details"])
		return p.named(fmt.Sprint(o["reason"], ": ", o["message"], " ", string(details)))
	case "LeaseList":
		items, _ := o["items"].([]any)
		parts := []string{"list"}
		for _, item := range items {
			item := item.(object)
			item["kind"] = "Lease"
			parts = append(parts, p.object(item, real))
		}
		slices.Sort(parts[1:]) // generated names are random, and so is their order
		return strings.Join(parts, " | ")
	case "Lease":
	default:
		b, _ := json.Marshal(o)
		return p.named(string(b))
	}
	name, _ := metadata["name"].(string)
	if real {
		p.last[name] = o
	}
	rest := maps.Clone(metadata)
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(rest, field)
	}
	extra, _ := json.Marshal(rest)
	spec, _ := json.Marshal(o["spec"])
	if generated, ok := metadata["generateName"].(string); ok && strings.HasPrefix(name, generated) {
		name = fmt.Sprint(generated, len(name)-len(generated), " letters")
	}
	return fmt.Sprintf("%s %s %s %s %s", name, p.first(p.uids, "uid", metadata["uid"]),
		p.first(p.versions, "version", metadata["resourceVersion"]), spec, extra)
}

// first names a value by the step at which it was first seen.
func (p *player) first(seen map[string]int, what string, v any) string {
	text, _ := v.(string)
	if text == "" {
		return what + " none"
	}
	if _, ok := seen[text]; !ok {
		seen[text] = len(p.lines)
	}
	return fmt.Sprint(what, " #", seen[text])
}

// named replaces ids and versions in a text.
func (p *player) named(text string) string {
	for _, uid := range slices.Sorted(maps.Keys(p.uids)) {
		text = strings.ReplaceAll(text, uid, fmt.Sprint("UID", p.uids[uid]))
	}
	for _, v := range slices.Sorted(maps.Keys(p.versions)) {
		text = strings.ReplaceAll(text, "resourceVersion="+v, fmt.Sprint("resourceVersion=#", p.versions[v]))
		text = strings.ReplaceAll(text, `ResourceVersion: `+v, fmt.Sprint("ResourceVersion: #", p.versions[v]))
	}
	text, _, _ = strings.Cut(text, ` in scheme "`) // which is named by a place of a file
	return strings.ReplaceAll(text, p.namespace, "NAMESPACE")
}
