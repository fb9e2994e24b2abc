package file

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/kinds"
)

// ignoreSource compares the content of scenarios, not their files and positions.
var ignoreSource = cmp.Options{
	cmpopts.IgnoreUnexported(Scenario{}), cmpopts.IgnoreFields(Scenario{}, "File", "Source"),
	cmpopts.IgnoreTypes(faults.Pos{}), cmpopts.EquateEmpty(),
}

func TestParseGCPause(t *testing.T) {
	data, err := os.ReadFile("../library/gc-pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("library/gc-pause.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{
		Name: "gc-pause", Title: "A stop-the-world pause outlives the lease", Why: got.Why, Catalogue: []string{"F11"},
		World:    Defaults().World,
		Lock:     Defaults().Lock,
		Workload: Defaults().Workload,
		Faults: []faults.Fault{{
			When:   &faults.Event{Client: "c0", Name: "read", Nth: 1},
			Action: faults.Pause{Process: "c0", For: 15 * time.Second},
			Pos:    faults.Pos{File: "library/gc-pause.yaml", Line: 13, Column: 5},
		}},
		Locks:  []string{"all"},
		Expect: got.Expect,
		File:   "library/gc-pause.yaml", Source: data,
	}
	want.Workload.Rounds = 3
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Scenario{})); diff != "" {
		t.Errorf("gc-pause (-want +got):\n%s", diff)
	}
	labels := map[fence.Mode]checker.Label{fence.None: checker.Corrupted, fence.Claim: checker.Rescued,
		fence.CAS: checker.Rescued}
	if diff := cmp.Diff(labels, got.Expect["redlock"]); diff != "" || len(got.Expect) != len(kinds.Names()) {
		t.Errorf("%d kinds have expectations; redlock (-want +got):\n%s", len(got.Expect), diff)
	}
	if !strings.HasPrefix(got.Why, "Kleppmann 2016 (F11). The holder") || strings.Count(got.Why, "\n") != 4 {
		t.Errorf("why = %q", got.Why)
	}
}

func TestParseFillsDefaults(t *testing.T) {
	got, err := Parse("small.yaml", []byte(`name: small
faults:
  - at: 0s
    crash: {process: c1}
  - when: {client: c0, event: my-point}
    partition: {between: [c0, r0]}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Name = "small"
	want.Faults = []faults.Fault{
		{Action: faults.Crash{Process: "c1", Mode: faults.CrashProcess}},
		{
			When: &faults.Event{Client: "c0", Name: "my-point", Nth: 1},
			Action: faults.Partition{
				Between: []string{"c0", "r0"}, Bytes: faults.BytesHold, Direction: faults.DirectionBoth,
			},
		},
	}
	if diff := cmp.Diff(want, got, ignoreSource); diff != "" {
		t.Errorf("small.yaml (-want +got):\n%s", diff)
	}
}

// Windows line ends and a byte-order mark change nothing but the bytes.
func TestParseWindowsFile(t *testing.T) {
	unix := "name: w\nwhy: |\n  one\n  two\nlock: {ttl: 3s}\n"
	want, err := Parse("u.yaml", []byte(unix))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("w.yaml", []byte("\uFEFF"+strings.ReplaceAll(unix, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, ignoreSource); diff != "" {
		t.Errorf("the Windows file differs (-unix +windows):\n%s", diff)
	}
	if got.Pos("lock.ttl") != (faults.Pos{File: "w.yaml", Line: 5, Column: 13}) {
		t.Errorf("lock.ttl is at %v", got.Pos("lock.ttl"))
	}
}

func TestPositionsAndLaterErrors(t *testing.T) {
	s, err := Parse("a.yaml", []byte("name: a\nlock: {kind: fenced}\nfaults:\n"+
		"  - at: 3s\n    pause: {process: c1, for: 1s}\nexpect:\n  fenced: {none: safe}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"name": "a.yaml:1:7", "lock": "a.yaml:2:1", "lock.kind": "a.yaml:2:14", "lock.ttl": "a.yaml:2:1",
		"world.redis": "a.yaml:1:1", "faults[0]": "a.yaml:4:5", "faults[0].pause": "a.yaml:5:5",
		"faults[0].pause.for": "a.yaml:5:31", "faults[7]": "a.yaml:3:1",
		"expect.fenced": "a.yaml:7:3", "expect.fenced.none": "a.yaml:7:18", "expect.fenced.seal": "a.yaml:7:3",
	} {
		if got := s.Pos(path).String(); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
	got := s.ErrorAt(s.Faults[0].Pos, "the fault %v never struck", s.Faults[0]).Error()
	want := "a.yaml:4:5: the fault pause c1 for 1s, at 3s never struck\n" +
		"   4 |   - at: 3s\n" +
		"     |     ^"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ErrorAt (-want +got):\n%s", diff)
	}
	if pos := new(Scenario).Pos("lock.kind"); pos != (faults.Pos{}) {
		t.Errorf("a scenario built in Go has the position %v", pos)
	}
}

// badFault is a file whose only fault is the given one, from line 2 on.
func badFault(fault string) string { return "name: x\nfaults:\n  - " + fault + "\n" }

// badInputs are mistakes in a file, each with the whole error: the position, the
// problem, what to do, the line, the caret.
var badInputs = []struct{ name, source, want string }{
	{"empty file", "", `
x.yaml:1:1: the file is empty: a scenario needs a name at least, such as name: my-scenario
   1 | 
     | ^`},
	{"only a comment", "# nothing\n", `
x.yaml:1:1: the file is empty: a scenario needs a name at least, such as name: my-scenario
   1 | # nothing
     | ^`},
	{"no name", "title: x\n", `
x.yaml:1:1: the scenario lacks the key name: add one, such as name: my-scenario
   1 | title: x
     | ^`},
	{"a bad name", "name: My Story\n", `
x.yaml:1:7: name: "My Story" cannot be a name: use up to 64 of a-z, 0-9 and -
   1 | name: My Story
     |       ^`},
	{"not a mapping", "- a\n- b\n", `
x.yaml:1:1: the scenario: want keys with values, such as {key: value}, found a list
   1 | - a
     | ^`},
	{"unknown key", "name: x\nwrold: {redis: 1}\n", `
x.yaml:2:1: the scenario has no key "wrold": did you mean world? Or choose one of name, title, why, catalogue, world, lock, store, workload, faults, locks, expect
   2 | wrold: {redis: 1}
     | ^`},
	{"unknown inner key", "name: x\nworkload: {rounds: 3, hodl: 2s}\n", `
x.yaml:2:23: workload has no key "hodl": did you mean hold? Or choose one of rounds, hold, think, stagger, timeout, checks_until, kind, nested, beside, request, deadline, data, tries, extend, acquire_within, extend_within, release_within, resources, release, look, ticks, stop, stock, take, section
   2 | workload: {rounds: 3, hodl: 2s}
     |                       ^`},
	{"a section within a fill", "name: x\nworkload: {kind: fill, nested: 1}\n", `
x.yaml:2:32: workload.nested: a workload of kind fill has no section within it: make it a register, or leave nested out
   2 | workload: {kind: fill, nested: 1}
     |                                ^`},
	{"a fill that releases early", "name: x\nworkload: {kind: fill, release: early}\n", `
x.yaml:2:33: workload.release: a workload of kind fill holds its lock until the work is done: make it a register, or leave release out
   2 | workload: {kind: fill, release: early}
     |                                 ^`},
	{"ticks without a leader", "name: x\nworkload: {ticks: 3}\n", `
x.yaml:2:19: workload.ticks: only a workload of kind leader works in ticks: make it one, or leave ticks out
   2 | workload: {ticks: 3}
     |                   ^`},
	{"a stock of which no section can take", "name: x\nworkload: {kind: stock, stock: 3, take: 5}\n", `
x.yaml:2:41: workload.take: a section takes 5, and there are 3: no section could ever take some; make take smaller, or stock larger
   2 | workload: {kind: stock, stock: 3, take: 5}
     |                                         ^`},
	{"a leader of two locks", "name: x\nworkload: {kind: leader, beside: true, resources: [a, b]}\n", `
x.yaml:2:34: workload.beside: a workload of kind leader has one lock at a time: make it a register, or leave beside out
   2 | workload: {kind: leader, beside: true, resources: [a, b]}
     |                                  ^`},
	{"a section within a late one", "name: x\nstore: my-fence\nworkload: {kind: late, nested: 1}\n", `
x.yaml:3:32: workload.nested: a workload of kind late has no section within it: make it a register, or leave nested out
   3 | workload: {kind: late, nested: 1}
     |                                ^`},
	{"a look without a fill", "name: x\nworkload: {look: once}\n", `
x.yaml:2:18: workload.look: only a workload of kind fill looks for a value: make it one, or leave look out
   2 | workload: {look: once}
     |                  ^`},
	{"a job that looks twice as a fill", "name: x\nworkload: {kind: job, look: once}\n", `
x.yaml:2:29: workload.look: only a workload of kind fill looks for a value: make it one, or leave look out
   2 | workload: {kind: job, look: once}
     |                             ^`},
	{"a section within a job", "name: x\nworkload: {kind: job, nested: 1}\n", `
x.yaml:2:31: workload.nested: a workload of kind job has no section within it: make it a register, or leave nested out
   2 | workload: {kind: job, nested: 1}
     |                               ^`},
	{"a deadline without an end", "name: x\nworkload: {deadline: true}\n", `
x.yaml:2:22: workload.deadline: a context without an end has no deadline: give request, acquire_within, extend_within or release_within too
   2 | workload: {deadline: true}
     |                      ^`},
	{"a wait of no length", "name: x\nworkload: {acquire_within: 0s}\n", `
x.yaml:2:28: workload.acquire_within: 0s is no length of time: leave acquire_within out to wait for ever
   2 | workload: {acquire_within: 0s}
     |                            ^`},
	{"an unknown release", "name: x\nworkload: {release: never}\n", `
x.yaml:2:21: workload.release: "never" is not known: choose one of last, early, retried, later
   2 | workload: {release: never}
     |                     ^`},
	{"a key twice", "name: x\nlock: {ttl: 3s, ttl: 5s}\n", `
x.yaml:2:17: lock has the key "ttl" twice: keep one of them
   2 | lock: {ttl: 3s, ttl: 5s}
     |                 ^`},
	{"a second document", "name: x\n---\nname: y\n", `
x.yaml:2:1: a second document begins here: put each scenario into a file of its own
   2 | ---
     | ^`},
	{"a directive", "%YAML 1.2\n---\nname: x\n", `
x.yaml:1:1: a directive is not part of the format: leave this line out
   1 | %YAML 1.2
     | ^`},
	{"broken YAML", "name: x\nlock: {ttl: 3s\n", `
x.yaml:2:7: not valid YAML: this { is not closed: add a }
   2 | lock: {ttl: 3s
     |       ^`},
	{"a bracket", "name: x\nlocks: [single\n", `
x.yaml:2:8: not valid YAML: this [ is not closed: add a ]
   2 | locks: [single
     |        ^`},
	{"a line without a key", "name: x\ntitle\nwhy: x\n", `
x.yaml:2:1: not valid YAML: this line has no key: write key: value, indent it as the lines above, and close each quote
   2 | title
     | ^`},
	{"two keys in a line", "name: x\nlock: kind: single\n", `
x.yaml:2:7: not valid YAML: a line has one key and one value: put quotes around a value with a colon, and begin a new line for a new key
   2 | lock: kind: single
     |       ^`},
	{"a mode of a group that is none", "name: x\nexpect:\n  all: {chek: rescued}\n", `
x.yaml:3:9: expect.all has no key "chek": did you mean check? Or choose one of none, check, seal, strict, claim, cas
   3 |   all: {chek: rescued}
     |         ^`},
	{"a tab", "name: x\nlock:\n	ttl: 3s\n", `
x.yaml:3:1: a tab is not allowed: use spaces
   3 |  ttl: 3s
     | ^`},
	{"not UTF-8", "name: x\ntitle: caf\xe9\n", "x.yaml:2:11: the byte 0xE9 is not UTF-8: save the file as UTF-8\n   2 | " +
		"title: caf�\n     |           ^"},
	{"an escape sequence", "name: \x1b[31mx\n", "x.yaml:1:7: the invisible character U+001B is not allowed: remove it\n " +
		"  1 | name: �[31mx\n     |       ^"},
	{"invisible character", "name: x\ntitle: a\u00a0b\n", `
x.yaml:2:9: the invisible character U+00A0 is not allowed: remove it
   2 | title: a b
     |         ^`},
	{"deep brackets", "name: x\nwhy: [[[[[[[[[[[[[[[[[\n", `
x.yaml:2:22: brackets are nested more than 16 deep: the format needs no more than three
   2 | why: [[[[[[[[[[[[[[[[[
     |                      ^`},
	{"anchor", "name: &n x\n", `
x.yaml:1:7: name: want text, found an anchor, alias, merge or tag, which the format does not have
   1 | name: &n x
     |       ^`},
	{"merge key", "name: x\nlock: {<<: {ttl: 3s}}\n", `
x.yaml:2:8: lock: a key is a word, found an anchor, alias, merge or tag, which the format does not have
   2 | lock: {<<: {ttl: 3s}}
     |        ^`},
	{"a number as a key", "name: x\nexpect: {1: {none: safe}}\n", `
x.yaml:2:10: expect: a key is a word, found the number 1
   2 | expect: {1: {none: safe}}
     |          ^`},
	{"a key of several words", "name: x\nexpect: {my lock: {none: safe}}\n", `
x.yaml:2:10: expect: a key is one word of at most 64 characters
   2 | expect: {my lock: {none: safe}}
     |          ^`},
	{"an explicit key", "? name\n: x\n", `
x.yaml:1:1: the scenario: a key is a word, found something else
   1 | ? name
     | ^`},
	{"a fraction", "name: x\nworld: {redis: 1.5}\n", `
x.yaml:2:16: world.redis: want a whole number, such as 3, found the number 1.5
   2 | world: {redis: 1.5}
     |                ^`},
	{"a truth value", "name: x\nworld: {redis: true}\n", `
x.yaml:2:16: world.redis: want a whole number, such as 3, found true
   2 | world: {redis: true}
     |                ^`},
	{"a number for a span", "name: x\nworld: {latency: 5}\n", `
x.yaml:2:18: world.latency: want a span of time, such as 1ms..5ms or 5ms, found the number 5
   2 | world: {latency: 5}
     |                  ^`},
	{"a block of text for a time", "name: x\nworkload:\n  hold: |\n    2s\n", `
x.yaml:3:9: workload.hold: want a length of time with its unit, such as 2s or 500ms, found a block of text
   3 |   hold: |
     |         ^`},
	{"a bell in a title", "name: x\ntitle: \"a\\a\"\n", `
x.yaml:2:8: title: a title is one line of visible characters: put the rest into why
   2 | title: "a\a"
     |        ^`},
	{"a bell in the reason", "name: x\nwhy: \"a\\a\"\n", `
x.yaml:2:6: why: the text has invisible characters: remove them
   2 | why: "a\a"
     |      ^`},
	{"a kind with a line break", "name: x\nlock: {kind: \"a\\nb\"}\n", `
x.yaml:2:14: lock.kind: "a\nb" cannot be a kind of lock: write a word such as fenced
   2 | lock: {kind: "a\nb"}
     |              ^`},
	{"one of many clients", "name: x\nworld: {clients: 4}\nfaults: [{at: 1s, crash: {process: c4}}]\n", `
x.yaml:3:36: faults[0].crash.process: there is no "c4" here: choose from the clients c0 to c3 (holder for the one that has the lock), and the Redis nodes r0
   3 | faults: [{at: 1s, crash: {process: c4}}]
     |                                    ^`},
	{"no value", "name: x\nlock:\n  ttl:\n  kind: fenced\n", `
x.yaml:3:3: lock.ttl: want a length of time with its unit, such as 2s or 500ms, found nothing
   3 |   ttl:
     |   ^`},
	{"a title of two lines", "name: x\ntitle: |\n  a\n  b\n", `
x.yaml:2:8: title: a title is one line of visible characters: put the rest into why
   2 | title: |
     |        ^`},
	{"text for a number", "name: x\nworld: {redis: one}\n", `
x.yaml:2:16: world.redis: want a whole number, such as 3, found "one"
   2 | world: {redis: one}
     |                ^`},
	{"hexadecimal", "name: x\nworld: {redis: 0x3}\n", `
x.yaml:2:16: world.redis: want a whole number in plain digits, such as 3, found the number 0x3
   2 | world: {redis: 0x3}
     |                ^`},
	{"a number without its unit", "name: x\nlock: {ttl: 10}\n", `
x.yaml:2:13: lock.ttl: want a length of time with its unit, such as 2s or 500ms, found the number 10
   2 | lock: {ttl: 10}
     |             ^`},
	{"a word for a time", "name: x\nworkload: {hold: long}\n", `
x.yaml:2:18: workload.hold: want a length of time with its unit, such as 2s or 500ms, found "long"
   2 | workload: {hold: long}
     |                  ^`},
	{"a list for a text", "name: [x]\n", `
x.yaml:1:1: name: want text, found a list
   1 | name: [x]
     | ^`},
	{"text for a group", "name: x\nlock: fenced\n", `
x.yaml:2:7: lock: want keys with values, such as {key: value}, found "fenced"
   2 | lock: fenced
     |       ^`},
	{"negative hold", "name: x\nworkload: {hold: -2s}\n", `
x.yaml:2:18: workload.hold: -2s is out of range: give a time from 0s to 24h
   2 | workload: {hold: -2s}
     |                  ^`},
	{"timeout of zero", "name: x\nworkload: {timeout: 0s}\n", `
x.yaml:2:21: workload.timeout: 0s is no length of time: leave timeout out to wait for ever
   2 | workload: {timeout: 0s}
     |                     ^`},
	{"TTL of zero", "name: x\nlock: {ttl: 0s}\n", `
x.yaml:2:13: lock.ttl: 0s is out of range: give a time from 1ms to 24h
   2 | lock: {ttl: 0s}
     |             ^`},
	{"TTL below a millisecond", "name: x\nlock: {ttl: 1500us}\n", `
x.yaml:2:13: lock.ttl: 1.5ms is not a whole number of milliseconds: Redis counts no finer
   2 | lock: {ttl: 1500us}
     |             ^`},
	{"latency upside down", "name: x\nworld: {latency: 5ms..1ms}\n", `
x.yaml:2:18: world.latency: 5ms is more than 1ms: write the shorter time first
   2 | world: {latency: 5ms..1ms}
     |                  ^`},
	{"latency half given", "name: x\nworld: {latency: 5ms..}\n", `
x.yaml:2:18: world.latency: want a span of time, such as 1ms..5ms or 5ms, found "5ms.."
   2 | world: {latency: 5ms..}
     |                  ^`},
	{"negative latency", "name: x\nworld: {latency: -1ms..1ms}\n", `
x.yaml:2:18: world.latency: -1ms is out of range: give a time from 0s to 24h
   2 | world: {latency: -1ms..1ms}
     |                  ^`},
	{"backoff of zero", "name: x\nlock: {backoff: 0s..1s}\n", `
x.yaml:2:17: lock.backoff: 0s is out of range: give a time from 1ms to 24h
   2 | lock: {backoff: 0s..1s}
     |                 ^`},
	{"too many nodes", "name: x\nworld: {redis: 10}\n", `
x.yaml:2:16: world.redis: 10 is out of range: give a number from 1 to 9
   2 | world: {redis: 10}
     |                ^`},
	{"no clients", "name: x\nworld: {clients: 0}\n", `
x.yaml:2:18: world.clients: 0 is out of range: give a number from 1 to 64
   2 | world: {clients: 0}
     |                  ^`},
	{"no rounds", "name: x\nworkload: {rounds: 0}\n", `
x.yaml:2:20: workload.rounds: 0 is out of range: give a number from 1 to 1000
   2 | workload: {rounds: 0}
     |                    ^`},
	{"too long", "name: x\nworkload: {think: 25h}\n", `
x.yaml:2:19: workload.think: 25h0m0s is out of range: give a time from 0s to 24h
   2 | workload: {think: 25h}
     |                   ^`},
	{"unknown care", "name: x\nworkload: {checks_until: step}\n", `
x.yaml:2:26: workload.checks_until: "step" is not known: did you mean steps? Or choose one of never, lost, steps
   2 | workload: {checks_until: step}
     |                          ^`},
	{"section: no step", "name: x\nworkload: {section: []}\n", `
x.yaml:2:12: workload.section: there is no step: list some, such as [read: stock, work: 2s, check, write: stock]
   2 | workload: {section: []}
     |            ^`},
	{"section: a word", "name: x\nworkload: {section: check}\n", `
x.yaml:2:21: workload.section: want a list, such as [read: stock, work: 2s, check, write: stock], found "check"
   2 | workload: {section: check}
     |                     ^`},
	{"section: unknown step", "name: x\nworkload: {section: [read: stock, chek]}\n", `
x.yaml:2:35: workload.section[1]: there is no step "chek": did you mean check? Or choose one of read, work, check, write
   2 | workload: {section: [read: stock, chek]}
     |                                   ^`},
	{"section: unknown key", "name: x\nworkload: {section: [{red: stock}]}\n", `
x.yaml:2:23: workload.section[0]: there is no step "red": did you mean read? Or choose one of read, work, check, write
   2 | workload: {section: [{red: stock}]}
     |                       ^`},
	{"section: read without a register", "name: x\nworkload: {section: [read]}\n", `
x.yaml:2:22: workload.section[0]: a read needs a register, such as read: stock
   2 | workload: {section: [read]}
     |                      ^`},
	{"section: write before read", "name: x\nworkload: {section: [read: stock, write: order]}\n", `
x.yaml:2:42: workload.section[1]: order was not read before: what a write is based on is known only of a register that its section has read; put read: order before it
   2 | workload: {section: [read: stock, write: order]}
     |                                          ^`},
	{"section: read twice", "name: x\nworkload: {section: [read: stock, work, read: stock]}\n", `
x.yaml:2:47: workload.section[2]: stock was read before: a section reads a register once
   2 | workload: {section: [read: stock, work, read: stock]}
     |                                               ^`},
	{"section: written twice", "name: x\nworkload: {section: [read: stock, write: stock, write: stock]}\n", `
x.yaml:2:56: workload.section[2]: stock was written before: a section writes a register once
   2 | workload: {section: [read: stock, write: stock, write: stock]}
     |                                                        ^`},
	{"section: read after the last write", "name: x\nworkload: {section: [read: stock, write: stock, read: order]}\n", `
x.yaml:2:55: workload.section[2]: order is read after the last write, where nothing depends on it: read it before, or leave the step out
   2 | workload: {section: [read: stock, write: stock, read: order]}
     |                                                       ^`},
	{"section: work of zero", "name: x\nworkload: {section: [work: 0s]}\n", `
x.yaml:2:28: workload.section[0]: 0s is no length of time: leave the step out, or write work for the time of hold
   2 | workload: {section: [work: 0s]}
     |                            ^`},
	{"section: work for a word", "name: x\nworkload: {section: [work: long]}\n", `
x.yaml:2:28: workload.section[0].work: want a length of time with its unit, such as 2s or 500ms, found "long"
   2 | workload: {section: [work: long]}
     |                            ^`},
	{"section: work for too long", "name: x\nworkload: {section: [work: 25h]}\n", `
x.yaml:2:28: workload.section[0]: 25h0m0s is out of range: give a time from 0s to 24h
   2 | workload: {section: [work: 25h]}
     |                            ^`},
	{"section: check with a value", "name: x\nworkload: {section: [check: 2s]}\n", `
x.yaml:2:29: workload.section[0]: a check has no value: write check alone
   2 | workload: {section: [check: 2s]}
     |                             ^`},
	{"section: two keys", "name: x\nworkload: {section: [{read: a, write: a}]}\n", `
x.yaml:2:22: workload.section[0]: a step is a word or one key with its value, such as check or read: stock
   2 | workload: {section: [{read: a, write: a}]}
     |                      ^`},
	{"section: no register", "name: x\nworkload: {section: [read: The Stock]}\n", `
x.yaml:2:28: workload.section[0]: "The Stock" cannot be a register: write a word of up to 32 of a-z, 0-9 and -, such as stock
   2 | workload: {section: [read: The Stock]}
     |                            ^`},
	{"section: too many", "name: x\nworkload: {section: [check, check, check, check, check, check, check, check, check, " +
		"check, check, check, check, check, check, check, check]}\n", `
x.yaml:2:134: workload.section[16]: there are 17 steps: a section has at most 16
   2 | k, check, check, check, check, check, check, check, check, check, check]}
     |                                                                   ^`},
	{"section: kind too", "name: x\nworkload: {section: [check], kind: register}\n", `
x.yaml:2:36: workload.kind: the section has steps of its own: leave kind out, or section
   2 | workload: {section: [check], kind: register}
     |                                    ^`},
	{"section: nested too", "name: x\nworkload: {section: [check], nested: 1}\n", `
x.yaml:2:38: workload.nested: a section with steps of its own has no section within it: leave nested out, or section
   2 | workload: {section: [check], nested: 1}
     |                                      ^`},
	{"section: never written", "name: x\nworkload: {section: [read: a]}\nfaults: [{when: {client: c0, event: write}, " +
		"crash: {process: c0}}]\n", `
x.yaml:3:37: faults[0].when.event: c0 never passes write: no step of workload.section does that
   3 | faults: [{when: {client: c0, event: write}, crash: {process: c0}}]
     |                                     ^`},
	{"section: three reads", "name: x\nworkload: {section: [read: a, read: b, read: c]}\nfaults: [{when: {client: c0, " +
		"event: read, nth: 4}, crash: {process: c0}}]\n", `
x.yaml:3:48: faults[0].when.nth: 4 is too many: c0 passes read 3 times a round, and workload.rounds is 1; lower nth or raise the rounds
   3 | faults: [{when: {client: c0, event: read, nth: 4}, crash: {process: c0}}]
     |                                                ^`},
	{"a kind with a space", "name: x\nlock: {kind: my lock}\n", `
x.yaml:2:14: lock.kind: "my lock" cannot be a kind of lock: write a word such as fenced
   2 | lock: {kind: my lock}
     |              ^`},
	{"unknown mode", "name: x\nexpect:\n  fenced: {none: safe, chek: safe}\n", `
x.yaml:3:24: expect.fenced has no key "chek": did you mean check? Or choose one of none, check, seal, strict, claim, cas
   3 |   fenced: {none: safe, chek: safe}
     |                        ^`},
	{"unknown label", "name: x\nexpect:\n  fenced: {none: corupted}\n", `
x.yaml:3:18: expect.fenced.none: there is no label "corupted": did you mean corrupted? Or choose one of corrupted, unknown, panicked, stuck, hung, false-reject, rescued, void, revived, misconduct, overtaken, repeated, regressed, overlap, untested, safe, n/a
   3 |   fenced: {none: corupted}
     |                  ^`},
	{"no trigger", badFault("pause: {process: c0, for: 1s}"), `
x.yaml:3:5: faults[0] lacks a trigger: add one, such as when: {client: c0, event: read}
   3 |   - pause: {process: c0, for: 1s}
     |     ^`},
	{"two triggers", badFault("at: 3s\n    when: {client: c0, event: read}\n    pause: {process: c0, for: 1s}"), `
x.yaml:4:5: faults[0] has at and when: a fault has one of them, so make two faults or leave one out
   4 |     when: {client: c0, event: read}
     |     ^`},
	{"no action", badFault("at: 3s"), `
x.yaml:3:5: faults[0] lacks an action: add one, such as pause: {process: c0, for: 15s}
   3 |   - at: 3s
     |     ^`},
	{"a fault without a value", badFault(""), `
x.yaml:3:5: faults[0]: want keys with values, such as {key: value}, found nothing
   3 |   - 
     |     ^`},
	{"the trigger is no group", badFault("when: c0\n    crash: {process: c0}"), `
x.yaml:3:11: faults[0].when: want keys with values, such as {key: value}, found "c0"
   3 |   - when: c0
     |           ^`},
	{"a trigger without its event", badFault("when: {client: c0}\n    crash: {process: c0}"), `
x.yaml:3:5: faults[0].when lacks the key event: add one, such as event: read
   3 |   - when: {client: c0}
     |     ^`},
	{"a crash without a process", badFault("at: 3s\n    crash: {}"), `
x.yaml:4:5: faults[0].crash lacks the key process: add one, such as process: c0
   4 |     crash: {}
     |     ^`},
	{"two actions", badFault("at: 3s\n    pause: {process: c0, for: 1s}\n    crash: {process: c0}"), `
x.yaml:5:5: faults[0] has pause and crash: a fault has one of them, so make two faults or leave one out
   5 |     crash: {process: c0}
     |     ^`},
	{"unknown action", badFault("at: 3s\n    pausing: {process: c0, for: 1s}"), `
x.yaml:4:5: faults[0] has no key "pausing": choose one of when, at, after, every, times, probability, ` + kindsInALine() + `
   4 |     pausing: {process: c0, for: 1s}
     |     ^`},
	{"at before the start", badFault("at: -3s\n    crash: {process: c0}"), `
x.yaml:3:9: faults[0].at: -3s is before the start of the run: give a time from 0s up
   3 |   - at: -3s
     |         ^`},
	{"at beyond all limits", badFault("at: 48h\n    crash: {process: c0}"), `
x.yaml:3:9: faults[0].at: 48h0m0s is out of range: give a time from 0s to 24h
   3 |   - at: 48h
     |         ^`},
	{"unknown process", badFault("at: 3s\n    pause: {process: c2, for: 1s}"), `
x.yaml:4:22: faults[0].pause.process: there is no client "c2": world.clients makes c0 and c1
   4 |     pause: {process: c2, for: 1s}
     |                      ^`},
	{"a crash of the store", badFault("at: 3s\n    crash: {process: s0}"), `
x.yaml:4:22: faults[0].crash.process: there is no "s0" here: choose from the clients c0 and c1 (holder for the one that has the lock), and the Redis nodes r0
   4 |     crash: {process: s0}
     |                      ^`},
	{"a pause without its length", badFault("at: 3s\n    pause: {process: c0}"), `
x.yaml:4:5: faults[0].pause lacks the key for: add one, such as for: 15s
   4 |     pause: {process: c0}
     |     ^`},
	{"a negative pause", badFault("at: 3s\n    pause: {process: c0, for: -15s}"), `
x.yaml:4:31: faults[0].pause.for: -15s is no length of time: give one such as 15s
   4 |     pause: {process: c0, for: -15s}
     |                               ^`},
	{"unknown crash mode", badFault("at: 3s\n    crash: {process: c0, mode: soft}"), `
x.yaml:4:32: faults[0].crash.mode: "soft" is not known: choose process or power
   4 |     crash: {process: c0, mode: soft}
     |                                ^`},
	{"unknown client of a trigger", badFault("when: {client: c9, event: read}\n    crash: {process: c0}"), `
x.yaml:3:20: faults[0].when.client: there is no client "c9": world.clients makes c0 and c1
   3 |   - when: {client: c9, event: read}
     |                    ^`},
	{"not an event", badFault("when: {client: c0, event: Read It}\n    crash: {process: c0}"), `
x.yaml:3:31: faults[0].when.event: "Read It" cannot be an event: write a label of a-z, 0-9 and -, such as read
   3 |   - when: {client: c0, event: Read It}
     |                               ^`},
	{"nth of zero", badFault("when: {client: c0, event: read, nth: 0}\n    crash: {process: c0}"), `
x.yaml:3:42: faults[0].when.nth: 0 is not a count: 1 is the first time that c0 passes read
   3 |   - when: {client: c0, event: read, nth: 0}
     |                                          ^`},
	{"nth never comes", badFault("when: {client: c0, event: read, nth: 2}\n    crash: {process: c0}"), `
x.yaml:3:42: faults[0].when.nth: 2 is too many: c0 passes read once a round, and workload.rounds is 1; lower nth or raise the rounds
   3 |   - when: {client: c0, event: read, nth: 2}
     |                                          ^`},
	{"unknown node of a link", badFault("at: 3s\n    partition: {between: [c0], and: [s0, r1]}"), `
x.yaml:4:42: faults[0].partition.and[1]: there is no "r1" here: choose from the clients c0 and c1 (holder for the one that has the lock), the Redis nodes r0, and the store s0
   4 |     partition: {between: [c0], and: [s0, r1]}
     |                                          ^`},
	{"a side that is no list", badFault("at: 3s\n    partition: {between: c0}"), `
x.yaml:4:26: faults[0].partition.between: want a list, such as [c0], found "c0"
   4 |     partition: {between: c0}
     |                          ^`},
	{"an empty side", badFault("at: 3s\n    partition: {between: []}"), `
x.yaml:4:17: faults[0].partition.between: no name is given: say who is on one side, such as [c0]
   4 |     partition: {between: []}
     |                 ^`},
	{"both sides", badFault("at: 3s\n    partition: {between: [c0], and: [r0, c0]}"), `
x.yaml:4:42: faults[0].partition.and[1]: c0 stands on both sides: name it on one of them
   4 |     partition: {between: [c0], and: [r0, c0]}
     |                                          ^`},
	{"a partition of no length", badFault("at: 3s\n    partition: {between: [c0], for: 0s}"), `
x.yaml:4:37: faults[0].partition.for: the value is empty: write one such as for: 15s, or leave for out (default: until every client has ended its workload)
   4 |     partition: {between: [c0], for: 0s}
     |                                     ^`},
	{"unknown bytes", badFault("at: 3s\n    partition: {between: [c0], bytes: eat}"), `
x.yaml:4:39: faults[0].partition.bytes: "eat" is not known: choose hold or drop
   4 |     partition: {between: [c0], bytes: eat}
     |                                       ^`},
	{"unknown direction", badFault("at: 3s\n    partition: {between: [c0], direction: up}"), `
x.yaml:4:43: faults[0].partition.direction: "up" is not known: choose both, forward or backward
   4 |     partition: {between: [c0], direction: up}
     |                                           ^`},
	{"faults that are no list", "name: x\nfaults: {at: 3s}\n", `
x.yaml:2:1: faults: want a list, such as - {at: 3s, crash: {process: c0}}, found keys with values
   2 | faults: {at: 3s}
     | ^`},
}

// kindsInALine are all kinds of fault.
func kindsInALine() string {
	var names []string
	for _, k := range faults.Kinds() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

func TestParseErrors(t *testing.T) {
	for _, tt := range badInputs {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse("x.yaml", []byte(tt.source))
			var input *InputError
			if !errors.As(err, &input) || s != nil {
				t.Fatalf("Parse = %v, %v; want nothing and an *InputError", s, err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// Every error is one message with the position and a caret.
func ExampleParse() {
	_, err := Parse("my.yaml", []byte("name: mine\nworkload: {rounds: 3, hold: -2s}\n"))
	fmt.Println(err)
	// Output:
	// my.yaml:2:29: workload.hold: -2s is out of range: give a time from 0s to 24h
	//    2 | workload: {rounds: 3, hold: -2s}
	//      |                             ^
}
