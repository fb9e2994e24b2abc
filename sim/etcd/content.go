package etcd

import (
	"fmt"
	"strconv"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"locksim/sim/trace"
)

// Request is a request in the trace.
type Request struct{ message proto.Message }

// AppendText appends the request in words, such as "put locks/order/7c lease 7c".
func (r Request) AppendText(b []byte) []byte { return append(b, trace.Readable(words(r.message))...) }

// AppendHash appends all of it.
func (r Request) AppendHash(b []byte) []byte { return appendMessage(b, r.message) }

// Brief implements [trace.Request]: what the request asks for, without the ids of leases.
func (r Request) Brief(trace.Content) string {
	switch r.message.(type) {
	case *pb.LeaseKeepAliveRequest:
		return "keep the lease alive"
	case *pb.LeaseGrantRequest:
		return "grant a lease"
	case *pb.LeaseRevokeRequest:
		return "revoke the lease"
	}
	return words(r.message)
}

// Words implements [trace.Worded]: a call, whatever it asks for, is in a piece that has one.
func (r Request) Words() []string { return callWords }

// Kind implements [trace.Kinded].
func (r Request) Kind() string { return string(r.message.ProtoReflect().Descriptor().Name()) }

var callWords = []string{"call"}

// unknownMethod is a call that this etcd does not have.
type unknownMethod string

// AppendText appends the name of the method.
func (m unknownMethod) AppendText(b []byte) []byte { return trace.Text(m).AppendText(b) }

// AppendHash implements [trace.Content].
func (m unknownMethod) AppendHash(b []byte) []byte { return trace.Text(m).AppendHash(b) }

// Unknown implements [trace.Asking].
func (m unknownMethod) Unknown(trace.Content) string {
	return "the etcd of locksim does not know the call " + string(m)
}

// Piece is what one side sends in one instant.
type Piece struct{ messages int }

// AppendText appends "gRPC", and the number of messages of calls.
func (p Piece) AppendText(b []byte) []byte {
	switch p.messages {
	case 0:
		return append(b, "gRPC"...)
	case 1:
		return append(b, "gRPC, a message"...)
	}
	return fmt.Appendf(b, "gRPC, %d messages", p.messages)
}

// AppendHash appends the number of messages.
func (p Piece) AppendHash(b []byte) []byte {
	return strconv.AppendInt(append(b, "gRPC"...), int64(p.messages), 10)
}

// Words implements [trace.Worded], for a piece with calls.
func (p Piece) Words() []string {
	if p.messages == 0 {
		return nil
	}
	return callWords
}

// Brief implements [trace.Request].
func (p Piece) Brief(trace.Content) string { return string(p.AppendText(nil)) }

// Silent implements [trace.Silent]: a piece without calls opens, keeps or closes the connection or a stream.
func (p Piece) Silent() bool { return p.messages == 0 }

// Answer is an answer in the trace.
type Answer struct {
	message proto.Message
	err     error
}

func answered(m proto.Message, err error) Answer { return Answer{m, err} }

// AppendText appends the answer in words, or its error.
func (a Answer) AppendText(b []byte) []byte {
	if a.err != nil {
		return append(b, status.Convert(a.err).Message()...)
	}
	return append(b, trace.Readable(words(a.message))...)
}

// AppendHash appends all of it.
func (a Answer) AppendHash(b []byte) []byte {
	if a.err != nil {
		return trace.AppendString(b, a.err.Error())
	}
	return appendMessage(b, a.message)
}

// Negative implements [trace.Answer]: an error, a transaction whose compares did not hold, or a lease that does not
// exist.
func (a Answer) Negative() bool {
	if a.err != nil {
		return true
	}
	switch m := a.message.(type) {
	case *pb.TxnResponse:
		return !m.Succeeded
	case *pb.LeaseKeepAliveResponse:
		return m.TTL <= 0
	case *pb.LeaseTimeToLiveResponse:
		return m.TTL <= 0
	}
	return false
}

func appendMessage(b []byte, m proto.Message) []byte {
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("etcd: marshal %T: %v", m, err))
	}
	return trace.AppendString(trace.AppendString(b, string(m.ProtoReflect().Descriptor().Name())), string(wire))
}

// watchCreate is a watch in the trace.
type watchCreate struct {
	request *pb.WatchCreateRequest
	later   bool // an event of the watch, which no message has asked for
}

// Words implements [trace.Worded].
func (w watchCreate) Words() []string {
	if w.later {
		return []string{"event"}
	}
	return callWords
}

func (w watchCreate) AppendText(b []byte) []byte { return append(b, trace.Readable(w.words())...) }
func (w watchCreate) AppendHash(b []byte) []byte { return appendMessage(b, w.request) }
func (w watchCreate) Brief(trace.Content) string { return w.words() }

func (w watchCreate) words() string {
	text := "watch " + keys(w.request.Key, w.request.RangeEnd)
	if w.request.StartRevision > 0 {
		text += " from " + strconv.FormatInt(w.request.StartRevision, 10)
	}
	return text
}

// watchCancel is the end of a watch in the trace.
type watchCancel int64

func (w watchCancel) AppendText(b []byte) []byte { return fmt.Appendf(b, "end watch %d", int64(w)) }
func (w watchCancel) AppendHash(b []byte) []byte { return trace.AppendInt(b, int64(w)) }
func (watchCancel) Brief(trace.Content) string   { return "" }
func (watchCancel) Words() []string              { return callWords }

// happened is what a watch tells.
type happened []*mvccpb.Event

func (h happened) AppendText(b []byte) []byte {
	var list []string
	for _, e := range h {
		what := "put"
		if e.Type == mvccpb.Event_DELETE {
			what = "deleted"
		}
		list = append(list, fmt.Sprintf("%s %s at %d", what, e.Kv.Key, e.Kv.ModRevision))
	}
	return append(b, trace.Readable(strings.Join(list, ", "))...)
}

func (h happened) AppendHash(b []byte) []byte {
	for _, e := range h {
		b = appendMessage(b, e)
	}
	return b
}

func words(m proto.Message) string {
	switch m := m.(type) {
	case *pb.RangeRequest:
		return "get " + keys(m.Key, m.RangeEnd) + options(m)
	case *pb.RangeResponse:
		if len(m.Kvs) == 0 {
			return plural(m.Count, "key")
		}
		var list []string
		for _, v := range m.Kvs {
			list = append(list, fmt.Sprintf("%s created at %d", v.Key, v.CreateRevision))
		}
		return strings.Join(list, ", ")
	case *pb.PutRequest:
		text := fmt.Sprintf("put %s %q", m.Key, m.Value)
		if m.Lease != 0 {
			text += " lease " + leaseName(m.Lease)
		}
		return text
	case *pb.PutResponse:
		return fmt.Sprintf("revision %d", m.Header.GetRevision())
	case *pb.DeleteRangeRequest:
		return "delete " + keys(m.Key, m.RangeEnd)
	case *pb.DeleteRangeResponse:
		return plural(m.Deleted, "key") + " deleted"
	case *pb.TxnRequest:
		return transaction(m)
	case *pb.TxnResponse:
		return transacted(m)
	case *pb.CompactionRequest:
		return fmt.Sprintf("compact to %d", m.Revision)
	case *pb.CompactionResponse:
		return "compacted"
	case *pb.LeaseGrantRequest:
		return fmt.Sprintf("grant a lease of %d s", m.TTL)
	case *pb.LeaseGrantResponse:
		return fmt.Sprintf("lease %s of %d s", leaseName(m.ID), m.TTL)
	case *pb.LeaseRevokeRequest:
		return "revoke lease " + leaseName(m.ID)
	case *pb.LeaseRevokeResponse:
		return "revoked"
	case *pb.LeaseKeepAliveRequest:
		return "keep alive lease " + leaseName(m.ID)
	case *pb.LeaseKeepAliveResponse:
		return remaining(m.TTL)
	case *pb.LeaseTimeToLiveRequest:
		return "time to live of lease " + leaseName(m.ID)
	case *pb.LeaseTimeToLiveResponse:
		return remaining(m.TTL)
	case *pb.LeaseLeasesRequest:
		return "list the leases"
	case *pb.LeaseLeasesResponse:
		return plural(int64(len(m.Leases)), "lease")
	}
	return string(m.ProtoReflect().Descriptor().Name())
}

func remaining(ttl int64) string {
	if ttl <= 0 {
		return "no such lease"
	}
	return fmt.Sprintf("%d s", ttl)
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// keys is a range of keys in words: "locks/order/…" for all keys with a prefix.
func keys(from, to []byte) string {
	switch {
	case len(to) == 0:
		return string(from)
	case len(to) == 1 && to[0] == 0:
		return "all keys from " + string(from)
	case string(to) == prefixEnd(string(from)):
		return string(from) + "…"
	}
	return fmt.Sprintf("%s to %s", from, to)
}

// prefixEnd is the end of the range of all keys with a prefix.
func prefixEnd(prefix string) string {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return string(end[:i+1])
		}
	}
	return "\x00"
}

// options are those of a read in words.
func options(r *pb.RangeRequest) string {
	var list []string
	if r.Revision > 0 {
		list = append(list, fmt.Sprintf("at %d", r.Revision))
	}
	if r.MaxCreateRevision > 0 {
		list = append(list, fmt.Sprintf("created up to %d", r.MaxCreateRevision))
	}
	if r.Limit == 1 && r.SortTarget == pb.RangeRequest_CREATE {
		which := "the first created"
		if r.SortOrder == pb.RangeRequest_DESCEND {
			which = "the last created"
		}
		list = append(list, which)
	} else if r.Limit > 0 {
		list = append(list, fmt.Sprintf("at most %d", r.Limit))
	}
	if r.CountOnly {
		list = append(list, "only their number")
	}
	if r.Serializable {
		list = append(list, "serializable")
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func transaction(r *pb.TxnRequest) string {
	var compares []string
	for _, c := range r.Compare {
		compares = append(compares, compare(c))
	}
	text := "if " + strings.Join(compares, " and ") + ": "
	if len(compares) == 0 {
		text = ""
	}
	text += operations(r.Success)
	if len(r.Failure) > 0 {
		text += ", else " + operations(r.Failure)
	}
	return text
}

func operations(ops []*pb.RequestOp) string {
	var list []string
	for _, op := range ops {
		switch o := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			list = append(list, words(o.RequestRange))
		case *pb.RequestOp_RequestPut:
			list = append(list, words(o.RequestPut))
		case *pb.RequestOp_RequestDeleteRange:
			list = append(list, words(o.RequestDeleteRange))
		case *pb.RequestOp_RequestTxn:
			list = append(list, "("+words(o.RequestTxn)+")")
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, " and ")
}

func transacted(m *pb.TxnResponse) string {
	list := []string{"yes"}
	if !m.Succeeded {
		list[0] = "no"
	}
	for _, one := range m.Responses {
		switch r := one.Response.(type) {
		case *pb.ResponseOp_ResponseRange:
			list = append(list, words(r.ResponseRange))
		case *pb.ResponseOp_ResponsePut:
			list = append(list, words(r.ResponsePut))
		case *pb.ResponseOp_ResponseDeleteRange:
			list = append(list, words(r.ResponseDeleteRange))
		case *pb.ResponseOp_ResponseTxn:
			list = append(list, "("+words(r.ResponseTxn)+")")
		}
	}
	return strings.Join(list, "; ")
}

func compare(c *pb.Compare) string {
	sign := map[pb.Compare_CompareResult]string{
		pb.Compare_EQUAL: "=", pb.Compare_GREATER: ">", pb.Compare_LESS: "<", pb.Compare_NOT_EQUAL: "≠",
	}[c.Result]
	name := keys(c.Key, c.RangeEnd)
	switch c.Target {
	case pb.Compare_CREATE:
		if c.Result == pb.Compare_EQUAL && c.GetCreateRevision() == 0 {
			return "there is no " + name
		}
		return fmt.Sprintf("%s was created at %s %d", name, sign, c.GetCreateRevision())
	case pb.Compare_MOD:
		return fmt.Sprintf("%s was changed at %s %d", name, sign, c.GetModRevision())
	case pb.Compare_VERSION:
		return fmt.Sprintf("version of %s %s %d", name, sign, c.GetVersion())
	case pb.Compare_VALUE:
		return fmt.Sprintf("%s %s %q", name, sign, c.GetValue())
	}
	return fmt.Sprintf("lease of %s %s %s", name, sign, leaseName(c.GetLease()))
}
