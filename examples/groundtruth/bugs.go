package groundtruth

import (
	"slices"

	"locksim/internal/findings"
	"locksim/lock"
	"locksim/scenarios"
)

// Bug is a published bug of an unmodified library: a row of the table.
type Bug struct {
	// ID names it: the library, and the number of its issue or what is wrong.
	ID string
	// Adapter is the folder with the program that has the library's lock.
	Adapter string
	// Source is the address of the issue, pull request or change log. Mechanism says in a sentence what is wrong.
	Source, Mechanism string
	// Kind is the catalogue id of such failures (F30), "" for one that the catalogue lacks.
	Kind string
	// Module has the bug in version Has and not in HasNot, which is "" while it is open.
	Module, Has, HasNot string
	// Quote is the promise of the library's documentation, Where its place.
	Quote, Where string
	// Promise is that promise as data. Check judges the lock by it.
	Promise lock.Promise
	// Helped finds the bug where Check at its defaults does not; nil if nothing does, or is needed.
	Helped *Help
	// Expected is the label by which the version with the bug was expected to fail, while the other one passes: written,
	// and committed, before the first run. It is "" in rows that are older than this field.
	Expected string
	// Missed is why Check at its defaults does not find it; "" if it does.
	Missed string
	// Otherwise is why a run that fails shows another thing than the bug itself; "" if it shows the bug. Such a run is no
	// find.
	Otherwise string
	// Frozen is why some runs have no verdict; "" if each must have one.
	Frozen string
	// Also is what else the runs showed, as read by hand: why a fixed version fails, or what a failure is.
	Also string
	// Overlay says that the program needs the build overlay: the library dials or reads clocks by itself.
	Overlay bool
	// With are replacements, in the words of a go.mod, of other modules that this version needs. VERSION in one of them is
	// that of Module.
	With []string
	// NotWith are those of HasNot, where it needs others; nil for the same.
	NotWith []string
	// Apart says that no go.mod requires the module, so that its requirements raise nothing elsewhere: the program, which
	// no pattern matches, is built by the name of its file with a go.mod that does.
	Apart bool
	// Over are the files of the module that are built, for a module that does not link any more: over what the folder over
	// of the adapter has in place of its other packages. With [Whole] the module is built as it is, and what the folder
	// _over of the adapter has is added, for a lock that a module keeps to itself. The module is Apart.
	Over []string
	// NotAdapter and NotModule are those of HasNot, for a lock that has moved to another module; "" for the same.
	NotAdapter, NotModule string
}

// Finding is what its thread is, and how it stands. A bug without one is a mistake of this package.
func (b Bug) Finding() findings.Finding {
	f, ok := findings.Find(b.ID)
	if !ok {
		panic("package findings has no " + b.ID)
	}
	return f
}

// Whole stands for all files of a module in the field Over of a [Bug].
var Whole = []string{"."}

// At is the bug as its version is built and played: with the adapter and the module of that version.
func (b Bug) At(version string) Bug {
	if b.NotModule != "" && version == b.HasNot {
		b.Adapter, b.Module, b.Apart, b.Over = b.NotAdapter, b.NotModule, false, nil
	}
	if b.NotWith != nil && version == b.HasNot {
		b.With = b.NotWith
	}
	return b
}

// Help is the smallest change that finds a bug which the defaults miss.
type Help struct {
	// What says it in words.
	What string
	// Promise replaces that of the bug.
	Promise lock.Promise
	// Options replace the defaults of Check, but for the seed and the folder.
	Options scenarios.Options
}

// Find is the bug or the recipe with an id.
func Find(id string) (b Bug, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(b Bug) bool { return b.ID == id })
	if i < 0 {
		return Bug{}, false
	}
	return all[i], true
}

// Obstacles say what an adapter had to overcome, by its folder.
var Obstacles = map[string]string{
	"redsync": "Its oldest versions tell neither the end of a lease nor an error type for a lock that is taken, and " +
		"join the errors of their nodes in the order in which goroutines end. Its pool of go-redis v9 begins with v4.8, so " +
		"redigo is used, and go-redis v8 where a request has no limit.",
	"redsync1": "Its calls have no context and no errors: false may mean that the lock was lost, or that there was " +
		"no answer.",
	"redislock": "It waits for one TTL under a context without a deadline. Its oldest version has no Token.",
	"zk":        "None: locksim comes with this lock.",
	"libkv": "It dials by itself, with a client of ZooKeeper that has another name: it needs the build overlay. " +
		"Its Lock ends with no context.",
	"migrate": "Its clients would create the table at the same time, so the server has it.",
	"rueidislock": "It dials in its constructor, reads wall clocks and draws from math/rand/v2: it needs the build " +
		"overlay, with which all is compiled anew. Its lease lives in the context of its Acquire. Old versions seed what " +
		"they draw with the time, and keep it: the variable for that is replaced.",
	"pglock": "It asks once in a TTL, and does not tell when. Its clients would create the table at the same time, " +
		"so the server has it. The checksum database does not know it: versions.sum has the checksum.",
	"etcd": "None: locksim comes with these locks, but for that of a recipe, whose calls have no context.",
	"etcd34": "Its client needs an old gRPC, and locksim's servers a new one: three of its files are built over " +
		"the present client.",
	"gozero": "Its clients are in a variable of a package, one for each address: each process of the world puts " +
		"its own there. Its calls have no context, and what it draws random numbers from is a variable too.",
	"consul": "None: locksim comes with its servers.",
	"kube":   "None: locksim comes with its API servers. Its own modules have to be of one version.",
	"river": "Its elector is internal: the module is built as a whole, with a file that runs it. Its notifier is " +
		"not run.",
	"river34": "As river. It draws from math/rand/v2: it needs the build overlay. It has one election for each " +
		"schema.",
	"inhouse": "They are in no module: they are written anew, in the form with the bug and in the mended one.",
	"gocron":  "It asks the server in its constructor, does not tell when its lock ends, and has one error for all.",
}

// Unplayed are published bugs that no adapter plays yet, with what is missing.
var Unplayed = []struct{ Source, What, Why string }{
	{"https://github.com/redis/rueidis/pull/374", "rueidislock: its loops do not end after a FLUSHALL that client-side " +
		"caching tells of", "The Redis of the world has no client-side caching."},
	{"https://github.com/RichardKnop/machinery/issues/780", "machinery v1.10.6: a key that ends between GET and GETSET " +
		"makes a Lock fail that could have been had",
		"Its module requires those of three clouds and of a database, which all adapters would build with: it needs a " +
			"module of its own. Its lock is never given back."},
	{"https://github.com/cirello-io/pglock/issues/36", "pglock: a heartbeat that is cancelled marks the lock as " +
		"released, and the release that follows leaves the row", "No adapter yet: it needs the heartbeats of the library, " +
		"and its Do."},
	{"https://github.com/openbao/openbao/issues/2097", "openbao: the holder of a row that was removed inserts it again, " +
		"and goes on", "No fault removes rows of PostgreSQL."},
}
