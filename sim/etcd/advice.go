package etcd

import (
	"locksim/sim/trace"
)

// Advice says which source of chance in gRPC explains the first difference of two equal runs, and what removes it, for
// a client without [DialOptions]. It is "" for a difference that none explains.
func Advice(d *trace.Divergence) string {
	if d == nil || d.A == nil || d.B == nil || d.A.Actor != d.B.Actor || trace.IsServer(d.A.Actor) {
		return ""
	}
	const options = ": etcd.DialOptions has what removes it"
	_, sends := d.A.What.(trace.Send)
	switch a, b := dials(d.A), dials(d.B); {
	case sends && d.A.Peer != d.B.Peer:
		return "gRPC begins with one of the members at random" + options
	case a && b && d.A.Peer == d.B.Peer:
		return "gRPC draws the delay before it connects again" + options
	case a || b:
		return "gRPC draws the delay before it connects again, or begins with one of the members at random" + options
	case sends:
		return "two goroutines of the client of etcd did something in one instant" + options
	}
	return ""
}

func dials(e *trace.Event) bool {
	switch e.What.(type) {
	case trace.Connect, trace.Refused:
		return true
	}
	return false
}
