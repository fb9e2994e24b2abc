package main

import (
	"maps"
	"reflect"

	"locksim/checker"
	"locksim/cmd/locksim/app"
	"locksim/internal/worlds"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/triage"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/placing"
)

// document is a type that is printed as JSON, with additional rules for its schema.
type document struct {
	name    string
	title   string
	version int
	// value is a value of the type. Its non-zero fields are constants of the schema, also
	// where the type is a part of another document.
	value any
	// words are the values of strings that the Go type does not limit: of a property
	// itself, of the items of a list, or of the keys of a map. A key is the name of a
	// property, in every type of the document, or "promise.Promise.data" for that of one
	// type.
	words map[string]words
}

// words are all values of a string.
type words struct {
	name   string // in $defs
	text   string // the description
	values []string
}

// documents are all JSON documents of locksim.
var documents = []document{
	{
		name: "compare", title: "A comparison of locks", version: comparisons.Version,
		value: comparisons.Comparison{Version: comparisons.Version},
		words: withPromise(map[string]words{
			"class":   {"compared_class", "A class of faults, or none.", comparedClasses()},
			"classes": {"compared_class", "A class of faults, or none.", comparedClasses()},
		}),
	},
	{
		name: "explore", title: "An exploration of locksim", version: explorations.Version,
		value: explorations.Exploration{Version: explorations.Version, Kind: explorations.Kind},
	},
	{name: "init", title: "The files that locksim has written", version: 1, value: app.Written{}},
	{name: "judge", title: "What the judge says of stored runs", version: 1, value: app.Judgement{}},
	{
		name: "list", title: "What locksim has", version: 1, value: app.List{},
		words: withPromise(nil),
	},
	{
		name: "leaders", title: "What the times of elections mean", version: tunings.LeadersVersion,
		value: tunings.Leaders{Version: tunings.LeadersVersion},
	},
	{name: "overlay", title: "A build overlay", version: 1, value: app.Overlaid{}},
	{name: "serve", title: "The address of locksim serve", version: 1, value: app.Serving{}},
	{name: "show", title: "A scenario and its file", version: 1, value: app.Shown{}},
	{name: "state", title: "The world at one step of a run", version: 1, value: app.State{}},
	{name: "version", title: "The version of locksim", version: 1, value: app.Version{}},
	{
		name: "matrix", title: "A matrix of locksim", version: matrices.Version,
		value: matrices.Matrix{Version: matrices.Version},
	},
	{
		name: "review", title: "A review of a lock", version: reviews.Version,
		value: reviews.Review{Version: reviews.Version, Kind: reviews.Kind},
		words: withPromise(nil),
	},
	{
		name: "run", title: "A run of locksim", version: outcome.RunVersion,
		value: outcome.RunFile{Version: outcome.RunVersion},
	},
	{
		name: "sweep", title: "A sweep of locksim", version: sweeps.Version,
		value: sweeps.Sweep{Version: sweeps.Version, Kind: sweeps.Kind},
		words: map[string]words{"kinds": {"sweep_kind", "A kind of fault that a sweep places.", sweepKinds()}},
	},
	{
		name: "triage", title: "What a folder remembers of its explorations", version: triage.Version,
		value: triage.History{Version: triage.Version, Kind: triage.Kind},
	},
	{
		name: "tune", title: "What lengths of a lease mean", version: tunings.Version,
		value: tunings.Tuning{Version: tunings.Version},
	},
	{
		name: "worlds", title: "A matrix of both worlds", version: worlds.Version,
		value: worlds.Table{Version: worlds.Version},
	},
}

// campaigns are the packages whose types have the same names in several documents, such as
// Plan, Summary and Timing, and what is put before these names.
var campaigns = map[string]string{"explorations": "explore", "sweeps": "sweep", "matrices": "matrix",
	"reviews": "review"}

// names are the names in $defs of types whose own name, in snake case, is also that of
// another type of the same document.
var names = map[reflect.Type]string{}

// part describes properties that a document has only for some values of a label.
type part struct {
	label string        // the property with the label
	none  checker.Label // the label without these properties
	more  []string      // such properties in addition to the fields of the embedded pointer
}

// parts are the types that embed a pointer that can be nil. Every other type with an
// embedded pointer always has its fields.
var parts = map[reflect.Type]part{
	reflect.TypeFor[outcome.ModeFile](): {"verdict", checker.NotApplicable, []string{"pause", "corroboration", "reasons",
		"trace_hash"}},
	reflect.TypeFor[matrices.Cell](): {"label", checker.NotApplicable, nil},
}

// withPromise adds to the words of a document those of a promise of a lock.
func withPromise(more map[string]words) map[string]words {
	all := map[string]words{
		"promise.Promise.data": {"promised_mode", "A fencing mode, or none.",
			append([]string{""}, textsOf(fence.Modes())...)},
		"promise.Promise.free_within": {"term", "A length of time in terms of a lock's options, or none.",
			append([]string{""}, textsOf(lock.Terms())...)},
	}
	maps.Copy(all, more)
	return all
}

func comparedClasses() []string {
	return append([]string{string(comparisons.NoFault)}, textsOf(lock.Faults())...)
}

func sweepKinds() []string {
	var out []string
	for _, k := range placing.Kinds() {
		out = append(out, k.Name)
	}
	return out
}

func textsOf[T ~string](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}
