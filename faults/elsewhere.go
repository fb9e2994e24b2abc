package faults

import (
	"fmt"
	"strings"
)

// Elsewhere is a word of another tool for something that goes wrong, or for when and how long.
type Elsewhere struct {
	// Tool is the one that has the word: "Chaos Mesh".
	Tool string
	// Name is the word, as that tool writes it.
	Name string
	// Ours is a fault with the nearest meaning, as a scenario file writes it. It is empty for a word of which there is
	// nothing near.
	Ours string
	// Note says what is different, or why there is nothing; it may be empty.
	Note string
}

// The tools whose words are known here.
const (
	chaosMesh = "Chaos Mesh"
	jepsen    = "Jepsen"
	toxiproxy = "Toxiproxy"
)

// noDuplicates is why nothing arrives twice.
const noDuplicates = "TCP gives a program each byte once; what a server gets twice is a request that was sent again " +
	"when its answer was lost, by a client such as lock: {client: stock}"

// elsewhere are the words, by their tools.
var elsewhere = []Elsewhere{
	{chaosMesh, "pod-kill", "{at: 3s, crash: {process: c0}}", ""},
	{chaosMesh, "container-kill", "{at: 3s, crash: {process: c0}}", ""},
	{chaosMesh, "pod-failure", "{at: 3s, crash: {process: r0, mode: power}}", "with a restart later"},
	{chaosMesh, "delay", "{at: 3s, latency: {between: [c0], and: [r0], add: 50ms, jitter: 20ms, for: 15s}}", ""},
	{chaosMesh, "loss", "{at: 3s, loss: {between: [c0], and: [r0], percent: 25, for: 15s}}", ""},
	{chaosMesh, "duplicate", "{at: 3s, lose_reply: {between: [c0], and: [r0]}}", noDuplicates},
	{chaosMesh, "corrupt", "{at: 3s, loss: {between: [c0], and: [r0], percent: 25, for: 15s}}",
		"the checksum of TCP makes a packet with wrong bits a lost one"},
	{chaosMesh, "reorder", "{at: 3s, delay_message: {between: [c0], and: [r0], by: 2s}}",
		"TCP keeps the order of a connection; those of other connections overtake"},
	{chaosMesh, "partition", "{at: 3s, partition: {between: [c0], and: [r0], for: 15s}}", ""},
	{chaosMesh, "bandwidth", "{at: 3s, bandwidth: {between: [c0], and: [r0], rate: 10, for: 15s}}", ""},
	{chaosMesh, "timeOffset", "{at: 3s, clock_jump: {clock: c0, by: 5s}}", "its end is a second jump, back"},
	{chaosMesh, "cpu", "{at: 3s, slow: {process: c0, by: 2s, for: 15s}}", ""},
	{chaosMesh, "memory", "{at: 3s, error_reply: {node: r0, error: oom, for: 15s}}", ""},
	{chaosMesh, "ioDelay", "{at: 3s, stall: {node: r0, for: 15s}}", ""},
	{chaosMesh, "abort", "{at: 3s, reset: {between: [c0], and: [r0]}}", "that is an action of HTTPChaos"},
	{chaosMesh, "schedule", "{every: 15s, pause: {process: c0, for: 2s}}", ""},
	{chaosMesh, "duration", "{at: 3s, stall: {node: r0, for: 15s}}", "it is for, a field of the fault"},

	{jepsen, "kill", "{at: 3s, crash: {process: c0}}", ""},
	{jepsen, "start", "{at: 9s, restart: {process: c0}}", ""},
	{jepsen, "pause", "{at: 3s, pause: {process: c0, for: 15s}}", "of a server it is stall"},
	{jepsen, "hammer-time", "{at: 3s, stall: {node: r0, for: 15s}}", ""},
	{jepsen, "partition", "{at: 3s, partition: {between: [r0], for: 15s}}", ""},
	{jepsen, "isolate", "{at: 3s, partition: {between: [c0], for: 15s}}", ""},
	{jepsen, "packet", "{at: 3s, loss: {between: [c0], and: [r0], percent: 25, for: 15s}}", "or latency"},
	{jepsen, "bump", "{at: 3s, clock_jump: {clock: c0, by: 5s}}", ""},
	{jepsen, "strobe", "{every: 200ms, times: 100, clock_jump: {clock: c0, by: 1s}}", "and another one with by: -1s"},
	{jepsen, "shrink", "{at: 3s, leave: {node: e0, for: 15s}}", "of etcd and ZooKeeper"},
	{jepsen, "grow", "{at: 3s, leave: {node: e0, for: 15s}}", "a member that has left joins again when the fault ends"},
	{jepsen, "remove_member", "{at: 3s, leave: {node: e0, for: 15s}}", "etcdctl member remove"},
	{jepsen, "lose-unfsynced-writes", "{at: 3s, crash: {process: r0, mode: power}}", "with world.persistence"},
	{jepsen, "bitflip", "", "disks keep what was synced: a server that loses data is crash with mode: power, or flush"},
	{jepsen, "truncate", "", "disks keep what was synced: a server that loses data is crash with mode: power, or flush"},

	{toxiproxy, "latency", "{at: 3s, latency: {between: [c0], and: [r0], add: 50ms, jitter: 20ms, for: 15s}}", ""},
	{toxiproxy, "down", "{at: 3s, refuse: {node: r0, for: 15s}}", "with a reset for the connections that are open"},
	{toxiproxy, "bandwidth", "{at: 3s, bandwidth: {between: [c0], and: [r0], rate: 10, for: 15s}}", ""},
	{toxiproxy, "slow_close", "{at: 3s, slow_close: {between: [c0], and: [r0], delay: 5s, for: 15s}}", ""},
	{toxiproxy, "timeout", "{at: 3s, partition: {between: [c0], and: [r0], bytes: drop, for: 15s}}", ""},
	{toxiproxy, "reset_peer", "{at: 3s, reset: {between: [c0], and: [r0]}}", "it strikes once; every makes it go on"},
	{toxiproxy, "slicer", "{at: 3s, slice: {between: [c0], and: [r0], size: 8, for: 15s}}", ""},
	{toxiproxy, "limit_data", "{at: 3s, lose_reply: {between: [c0], and: [r0], skip: 3}}", "it counts answers, not bytes"},
	{toxiproxy, "toxicity", "{every: 500ms, probability: 80, reset: {between: [c0], and: [r0]}}",
		"it is probability, in percent, of each strike"},
	{toxiproxy, "upstream", "{at: 3s, latency: {between: [c0], and: [r0], add: 50ms, direction: forward}}", ""},
	{toxiproxy, "downstream", "{at: 3s, latency: {between: [c0], and: [r0], add: 50ms, direction: backward}}", ""},
}

// AllElsewhere are the words of other tools that are known here, by the tools. The caller owns the slice.
func AllElsewhere() []Elsewhere { return append([]Elsewhere{}, elsewhere...) }

// FromElsewhere finds a word of another tool, however it writes words; ok is false for one that is not known.
func FromElsewhere(word string) (e Elsewhere, ok bool) {
	for _, e := range elsewhere {
		if plainWord(e.Name) == plainWord(word) {
			return e, true
		}
	}
	return Elsewhere{}, false
}

func plainWord(word string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(word))
}

// String says what to write in place of the word: "duplicate of Chaos Mesh is …".
func (e Elsewhere) String() string {
	note := ""
	if e.Note != "" {
		note = " (" + e.Note + ")"
	}
	if e.Ours == "" {
		return fmt.Sprintf("there is nothing like %s of %s%s", e.Name, e.Tool, note)
	}
	return fmt.Sprintf("for %s of %s write %s%s", e.Name, e.Tool, e.Ours, note)
}
