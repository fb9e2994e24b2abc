package file

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// WorkloadKind is what a section does.
type WorkloadKind string

const (
	// WorkloadRegister reads a register and writes it.
	WorkloadRegister WorkloadKind = "register"
	// WorkloadTransfer reads two registers and writes both, as a transfer between
	// two accounts does: an interrupted section is torn (F73).
	WorkloadTransfer WorkloadKind = "transfer"
	// WorkloadFill computes a value that is missing: in its nth round each client
	// wants the nth value of the resource. It acquires the lock since it has not got
	// the value, reads its register and, if nothing is there, works for Hold and
	// writes it. Work that is done twice is the label repeated.
	WorkloadFill WorkloadKind = "fill"
	// WorkloadLeader holds on for long, as the leader of a service does: it works in ticks, each of which reads the
	// register, works for Hold and writes it, until it is told of the loss of its lock, or has done Ticks of them and
	// resigns. After Think it campaigns again. Rounds is the number of its terms. See [Workload.Ticks] and
	// [Workload.Stop].
	WorkloadLeader WorkloadKind = "leader"
	// WorkloadStock takes units of a stock: a section reads how many are left and, if there are as many as it takes, works
	// and writes what is left then. See [Workload.Stock] and [Workload.Take]. Units that are taken beyond the stock are
	// the fact oversold.
	WorkloadStock WorkloadKind = "stock"
	// WorkloadJob is the job of the hour that each replica of a service runs under the
	// lock: a fill that looks once. In its nth round each client runs the nth job, since
	// it does not look whether another one has. A job that runs twice is the label
	// repeated.
	WorkloadJob WorkloadKind = "job"
	// WorkloadLate tries a fence: see [Scenario.Store]. Each section reads and writes, mostly late: after the end of its
	// lease, when others have the lock, or in the instant in which they write. It goes on after a refusal, and sends some
	// writes again. Of the other keys it follows rounds, think, stagger, hold and resources.
	WorkloadLate WorkloadKind = "late"
)

// workloadRow is all that this package and those who judge know of a kind of workload. What a client does in its
// section is a row of the package that plays: see [locksim/scenarios/play].
type workloadRow struct {
	kind WorkloadKind
	// does is what a section does, after the name of the kind.
	does string
	// steps are those of a section that has none of its own; nil for a read, work and a write of one register.
	steps []Step
	// fills says that a section computes a value that is missing, once if all goes well; looksOnce, that it never looks
	// whether somebody else has; leads, that a grant has a section for each tick; triesFence, that sections try a fence.
	// sells says that sections take units of a stock.
	fills, looksOnce, leads, triesFence, sells bool
	// only are the keys that no other kind has, and what it alone does with them; refuses are those that it cannot have,
	// and why.
	only, refuses []rule
}

// rule is what a kind of workload says of one key.
type rule struct {
	key string
	// value is the one that it is about, as a file has it; "" for any but the default.
	value   string
	because string
}

// workloadRows are the kinds, the default first.
var workloadRows = []workloadRow{
	{kind: WorkloadRegister, does: "reads one register and writes it"},
	{kind: WorkloadTransfer, does: "reads two and writes both, and their sum must not change",
		steps: []Step{
			{Do: StepRead, Register: balance}, {Do: StepRead, Register: reserve}, {Do: StepWork},
			{Do: StepWrite, Register: balance}, {Do: StepWrite, Register: reserve},
		},
		refuses: []rule{notWithin}},
	{kind: WorkloadFill, does: "computes values", fills: true,
		only: []rule{{"look", "", "looks for a value"}}, refuses: []rule{notWithin, notEarly, notBeside}},
	{kind: WorkloadJob, does: "runs a job", fills: true, looksOnce: true,
		refuses: []rule{notWithin, notEarly, notBeside}},
	{kind: WorkloadLeader, does: "holds the lock and works in ticks", leads: true,
		only:    []rule{{"ticks", "", "works in ticks"}, {"stop", "", "takes time to stop"}},
		refuses: []rule{notWithin, notBeside}},
	{kind: WorkloadStock, does: "takes units of a stock, if enough are left", sells: true,
		steps: []Step{{Do: StepRead, Register: stock}, {Do: StepWork}, {Do: StepWrite, Register: stock}},
		only:  []rule{{"stock", "", "has a stock"}, {"take", "", "takes units of a stock"}}, refuses: []rule{notWithin}},
	{kind: WorkloadLate, does: "tries the fence of `store`", triesFence: true, refuses: []rule{notWithin}},
}

// What several kinds refuse.
var (
	notWithin = rule{"nested", "", "has no section within it"}
	notEarly  = rule{"release", string(ReleaseEarly), "holds its lock until the work is done"}
	notBeside = rule{"beside", "", "has one lock at a time"}
)

// row is the row of a kind; that of the default for one that there is not.
func (k WorkloadKind) row() *workloadRow {
	for i := range workloadRows {
		if workloadRows[i].kind == k {
			return &workloadRows[i]
		}
	}
	return &workloadRows[0]
}

// WorkloadKinds lists them, the default first. The caller owns the slice.
func WorkloadKinds() []WorkloadKind {
	kinds := make([]WorkloadKind, len(workloadRows))
	for i, row := range workloadRows {
		kinds[i] = row.kind
	}
	return kinds
}

// Takes reports whether a workload of the kind can have a key, by its name in a file, with some value but the default.
func (k WorkloadKind) Takes(key string) bool {
	row := k.row()
	for _, other := range workloadRows {
		if other.kind != row.kind && about(other.only, key) {
			return false
		}
	}
	return !about(row.refuses, key)
}

// about reports whether one of some rules is about each value of a key.
func about(rules []rule, key string) bool {
	for _, r := range rules {
		if r.key == key && r.value == "" {
			return true
		}
	}
	return false
}

// validateKind checks the keys that the kind of a workload cannot have.
func (s checked) validateKind() error {
	row, byDefault := s.Workload.Kind.row(), Defaults()
	has := func(r rule) bool {
		value := workloadKey(r.key).Value
		text := value.text(s.Scenario)
		return text != value.text(byDefault) && text != "" && (r.value == "" || text == r.value)
	}
	for _, r := range row.refuses {
		if has(r) {
			return wrong("workload."+r.key, "a workload of kind %s %s: make it a %s, or leave %s out", row.kind, r.because,
				WorkloadRegister,
				r.key)
		}
	}
	for _, other := range workloadRows {
		for _, r := range other.only {
			if other.kind != row.kind && has(r) {
				return wrong("workload."+r.key, "only a workload of kind %s %s: make it one, or leave %s out", other.kind,
					r.because, r.key)
			}
		}
	}
	return nil
}

// workloadKey is the row of a key of a workload.
func workloadKey(name string) Key {
	return keys[slices.IndexFunc(keys, func(k Key) bool { return k.Group == "workload" && k.Name == name })]
}

// docOfKinds says what the kinds do.
func docOfKinds() string {
	says := make([]string, len(workloadRows))
	for i, row := range workloadRows {
		says[i] = fmt.Sprintf("`%s` %s", row.kind, row.does)
	}
	return strings.Join(says, ". ") + "."
}

// Fills says that a section computes a value, once if all goes well.
func (w Workload) Fills() bool { return w.Kind.row().fills }

// Leads says that a client holds the lock for many ticks.
func (w Workload) Leads() bool { return w.Kind.row().leads }

// TriesFence says that a section reads and writes late, to try a fence.
func (w Workload) TriesFence() bool { return w.Kind.row().triesFence }

// LooksOnce says that a client that had to wait computes what may be there by then.
func (w Workload) LooksOnce() bool { return w.Kind.row().looksOnce || w.Look == LookOnce }

// Sells says that sections take units of a stock.
func (w Workload) Sells() bool { return w.Kind.row().sells }

// MaxUnits is the greatest number of units in a stock. UsualStock and UsualTake are the numbers of a scenario that
// names none.
const (
	MaxUnits   = 1000
	UsualStock = 10
	UsualTake  = 1
)

// Units are how many units the stock has at first, and how many a section takes.
func (w Workload) Units() (stock, take int) {
	return cmp.Or(w.Stock, UsualStock), cmp.Or(w.Take, UsualTake)
}

// MaxTicks is the greatest number of ticks in a term of a leader, UsualTicks the number where a scenario names none.
const (
	MaxTicks   = 100
	UsualTicks = 10
)

// TicksOfTerm is how many ticks a leader makes in a term, at most.
func (w Workload) TicksOfTerm() int { return cmp.Or(w.Ticks, UsualTicks) }

// Sections is how many sections a client makes under one grant, at most: a leader makes one in each tick.
func (w Workload) Sections() int {
	if w.Leads() {
		return w.TicksOfTerm()
	}
	return 1
}
