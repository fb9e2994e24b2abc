// Package libraries puts other people's lock libraries on trial, unmodified, each against its own promise. Every folder
// is the program of one library: a file with the library as its users have it. go run ./cmd builds and plays them, and
// writes the table of verdicts, reports/LIBRARIES.md.
package libraries

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"locksim/checker"
	"locksim/cmd/locksim/app"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/sim"
)

// Library is what a program puts on trial.
type Library struct {
	// Name is that of the library, and of its folder.
	Name string
	// Module is its module, whose version the program tells. Source is the address of its code.
	Module, Source string
	// Overlay says that the library dials, reads clocks or draws random numbers by itself: its program is built with the
	// overlay of locksim.
	Overlay bool
	// Locks are the ways to use it: first as it comes.
	Locks []Lock
	// Findings are what was found, checked by hand.
	Findings []Finding
}

// Lock is one way to use a library.
type Lock struct {
	scenarios.Lock
	// Is says in a line what the lock is: a lease by a key that ends, a session, …
	Is string
	// Options says how it is used: the options, and what its user has to add.
	Options string
	// Says are the sentences of the documentation by which it is judged. What none of them says is a wish.
	Says []Sentence
	// Fence says which number of the library can be a fencing token, or that none can.
	Fence string
	// Untested says what of it was not tested; "" for nothing that a user would expect.
	Untested string
	// Runs is in how many runs each class of fault of a cell is felt, where the lock promises something: fewer where a run
	// takes long. 0 is for 32.
	Runs int
	// Why are the IDs of the findings that break the lock in a trouble, by the name of the trouble: those that explain a
	// broken promise, and those that are known although the schedules of the cell do not show them.
	Why map[string][]string
	// Refuses are the classes of fault under which the lock is not asked, with the reason: what such a fault needs, and
	// what the library says to that; or what the world does not have that decides there.
	Refuses map[lock.Fault]string
	// Misuse says what a careless caller does with this lock: see [Misused]. "" is for a lock whose calls cannot be used
	// so.
	Misuse string
}

// Sentence is a sentence of the documentation, in its words.
type Sentence struct {
	// Text is the sentence, literally: […] stands for words that are left out.
	Text string
	// Where is its place. File is the file of the module, from its root, and Module the module where it is another one
	// than that of the library: a test reads it there. File is "" for documentation that is not in a module.
	Where, File, Module string
	// Labels are what breaks it. Nil is for what breaks the exclusion: [Exclusion].
	Labels []checker.Label
	// Under are the classes of fault for which it speaks, "" for runs without faults. Nil is for all for which the lock
	// promises something.
	Under []lock.Fault
}

// Exclusion are the labels of runs in which a lock did not keep others out: two claims, data that is wrong in the mode
// in which it should be right. A grant of nothing, [checker.Void], is another thing: it breaks a sentence on what a
// grant means. The caller owns the slice.
func Exclusion() []checker.Label {
	return []checker.Label{checker.Corrupted, checker.FalseReject, checker.Revived, checker.Repeated, checker.Overlap}
}

// of reports whether the sentence is broken by a label in a run of a class of fault; "" is for a run without faults.
func (s Sentence) of(label checker.Label, class lock.Fault) bool {
	labels := s.Labels
	if labels == nil {
		labels = Exclusion()
	}
	return slices.Contains(labels, label) && (s.Under == nil || slices.Contains(s.Under, class))
}

// Status says what is known of a finding.
type Status string

// The states of a finding.
const (
	// Documented is what the documentation of the library says.
	Documented Status = "documented"
	// Known has an issue, pull request or article.
	Known Status = "known"
	// NotKnown was not found anywhere: docs/upstream has the draft of a report.
	NotKnown Status = "not known"
)

// Finding is a reason why a lock breaks its promise, checked by hand in the code of the library.
type Finding struct {
	ID     string
	Status Status
	// Where is the file and line, or the document, and Link its address: of the issue for one that is known.
	Where, Link string
	// What says in two sentences what is wrong.
	What string
	// Draft is the file in docs/upstream, for one that is not known.
	Draft string
	// Shows are scenarios that show it, where the schedules of the cells do not show it on real servers.
	Shows []Shown `json:",omitempty"`
}

// Shown is a scenario that shows a finding, in both worlds.
type Shown struct {
	// Lock is the lock that it is played with, Source its text.
	Lock, Source string
}

// Trouble is a group of classes of fault: a column of the table.
type Trouble struct {
	// Name is the word by which the command knows it.
	Name string
	// Means says it in words.
	Means  string
	Faults []lock.Fault
}

// Misused is the name of the column in which the caller makes mistakes.
const Misused = "misuse"

// Troubles are the columns of the table. The caller owns the slice.
func Troubles() []Trouble {
	return []Trouble{
		{"none", "nothing fails: all clocks agree, and the caller makes no mistake", nil},
		{Misused, "nothing fails but the caller: the context of a release has ended, or one that failed is called again, " +
			"as on an old object", nil},
		{"pause", "a client is paused, or slow", []lock.Fault{lock.FaultPause, lock.FaultSlow}},
		{"process", "the process of a client ends, or is started again", []lock.Fault{lock.FaultCrash, lock.FaultRestart}},
		{"power", "the machine of a client loses its power, and closes no connection", []lock.Fault{lock.FaultPower}},
		{"network", "partitions, late, lost and cut off messages", []lock.Fault{lock.FaultPartition, lock.FaultLatency,
			lock.FaultReset}},
		{"clocks", "clocks of clients jump, or run too fast or too slow, or those of servers are wrong from the start",
			[]lock.Fault{lock.FaultWallClock, lock.FaultClockDrift, lock.FaultClockRate}},
		{"refusals", "servers stand still, take no writes, or forget scripts",
			[]lock.Fault{lock.FaultStall, lock.FaultReadOnly, lock.FaultScripts}},
		{"server-crash", "the process of a server ends, or is started again", []lock.Fault{lock.FaultNodeCrash}},
		{"server-power", "the machine of a server loses its power, and what was not on its disk",
			[]lock.Fault{lock.FaultNodePower}},
		{"failover", "a replica takes over that lacks the last writes", []lock.Fault{lock.FaultFailover}},
		{"server-clocks", "clocks of servers jump, or are wrong from the start", []lock.Fault{lock.FaultNodeClock}},
		{"lost-data", "keys are evicted or flushed", []lock.Fault{lock.FaultEviction, lock.FaultFlush}},
	}
}

// FindTrouble is the trouble with a name.
func FindTrouble(name string) (Trouble, error) {
	all := Troubles()
	i := slices.IndexFunc(all, func(t Trouble) bool { return t.Name == name })
	if i < 0 {
		return Trouble{}, fmt.Errorf("there is no trouble %q: go run ./cmd -h lists them", name)
	}
	return all[i], nil
}

// Main is the program of a library. With -sheet it prints what it is, with -cell and -lock it plays a cell and prints
// it, both as JSON; with other arguments it is the command of locksim with these locks. It does not return.
func Main(l Library) {
	if len(os.Args) < 2 || os.Args[1][0] != '-' {
		os.Exit(app.Main(l.locks()...))
	}
	sheet := flag.Bool("sheet", false, "print the library, its locks and findings")
	trouble := flag.String("cell", "", "play the cell of a lock with this trouble")
	name := flag.String("lock", "", "with -cell: the lock")
	runs := flag.Int("runs", 0, "with -cell: in how many runs each class of fault is felt; 0 for that of the lock")
	seed := flag.Uint64("seed", 1, "with -cell: the first seed")
	flag.Parse()
	if err := l.answer(*sheet, *trouble, *name, *runs, *seed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// locks are those that the command of locksim does not have itself, as the cells play them: each with a careful caller
// and, where that is a mistake which its calls allow, with a careless one.
func (l Library) locks() []scenarios.Lock {
	var out []scenarios.Lock
	for _, x := range l.Locks {
		if _, err := scenarios.Kind(x.Name); err == nil {
			continue
		}
		out = append(out, x.careful())
		if x.Misuse != "" {
			out = append(out, x.careless())
		}
	}
	return out
}

func (l Library) answer(sheet bool, trouble, name string, runs int, seed uint64) error {
	if l.Overlay && !sim.Overlaid() {
		return fmt.Errorf("%s dials, reads clocks or draws random numbers by itself: build it with the overlay, as go run "+
			"./cmd %[1]s does", l.Name)
	}
	out := json.NewEncoder(os.Stdout)
	if sheet {
		s, err := l.sheet()
		return errors.Join(err, out.Encode(s))
	}
	t, err := FindTrouble(trouble)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(l.Locks, func(x Lock) bool { return x.Name == name })
	if i < 0 {
		return fmt.Errorf("%s has no lock %q", l.Name, name)
	}
	if runs == 0 {
		runs = l.Locks[i].runs()
	}
	c, err := playCell(l.Locks[i], t, runs, seed)
	if err != nil {
		return err
	}
	return out.Encode(c)
}

// runs is how many schedules a cell draws.
func (x Lock) runs() int {
	const most = 32
	return cmp.Or(x.Runs, most)
}

// version is that of the module in this program.
func (l Library) version() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("this program does not know the versions of its modules: build it with Go modules")
	}
	if l.Module == "locksim" {
		return "this commit", nil
	}
	for _, m := range info.Deps {
		if m.Path == l.Module {
			if m.Replace != nil {
				return "", fmt.Errorf("%s is replaced: the table is of libraries as they are", m.Path)
			}
			return m.Version, nil
		}
	}
	return "", fmt.Errorf("this program has no module %s", l.Module)
}
