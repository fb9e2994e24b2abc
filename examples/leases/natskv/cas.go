package natskv

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/subject"
	"locksim/sim"
	simnats "locksim/sim/nats"
	"locksim/sim/trace"
)

// CompareAndSet is no lock: a message is stored only if the revision of its key is the one that was read.
func CompareAndSet() scenarios.Lock {
	servers := Servers()
	servers[0].Kind.Make = func(n int) sim.Kind {
		return simnats.Servers{Count: n, In: simnats.InMemory, Protected: &simnats.Protected{
			Header: opHeader, Of: operation, Where: dataKey}}
	}
	l := subject.Unlocked("nats-cas", servers, KV().Promise.Exclusion, openBucket)
	l.About = "No lock: a bucket of NATS stores a value only if the revision of its key is the one that was read, and " +
		"otherwise the client reads again, three times in all."
	l.ForWhom = "Changes of a key of the same bucket that rarely meet, and that may be computed again."
	return l
}

// opHeader names the operation that a request is about, for the record of the world.
const opHeader = "Locksim-Op"

// reads is the subject by which a key is read, before that of the key: the request of [jetstream.KeyValue.Get].
const reads = "$JS.API.DIRECT.GET.KV_" + simnats.Bucket + "."

// dataKey is what a bucket allows in a key: the bytes of a name in hexadecimal.
func dataKey(resource, register string) string { return fmt.Sprintf("data.%x.%s", resource, register) }

// operation is what a request by its subject is about.
func operation(of string) (op trace.Decision, ok bool) {
	key, isRead := strings.CutPrefix(of, reads)
	key, ok = strings.CutPrefix(key, simnats.Subject("data."))
	resource, register, found := strings.Cut(key, ".")
	name, err := hex.DecodeString(resource)
	if err != nil || !ok || !found {
		return op, false
	}
	return trace.Decision{Write: !isRead, Resource: string(name), Register: register}, true
}

// bucketStore is the access of a client to the data.
type bucketStore struct {
	env       scenarios.Env
	conn      *nats.Conn
	compares  bool
	revisions map[string]uint64 // by the key, as the client has read them last
}

func openBucket(e subject.Env, mode fence.Mode) (subject.Store, error) {
	nc, err := Connect(e)
	return &bucketStore{env: e, conn: nc, compares: mode != fence.None, revisions: map[string]uint64{}}, err
}

var errRevision = errors.New("the revision is another")

// Do implements [subject.Store].
func (s *bucketStore) Do(ctx context.Context, op checker.Op,
	_ string) (saw string, outcome checker.Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.env.Spec().TTL/3)
	defer cancel()
	key := dataKey(string(op.Resource), op.Register)
	if op.Kind == checker.Read {
		saw, err = s.read(ctx, op, key)
	} else {
		err = s.write(ctx, op, key)
	}
	switch {
	case errors.Is(err, errRevision):
		return "", checker.OutcomeRefused, err
	case err != nil:
		return "", checker.OutcomeUnknown, err
	}
	return saw, checker.OutcomeOK, nil
}

func (s *bucketStore) read(ctx context.Context, op checker.Op, key string) (saw string, err error) {
	answer, err := s.conn.RequestMsgWithContext(ctx, &nats.Msg{Subject: reads + simnats.Subject(key),
		Header: nats.Header{opHeader: {op.ID}}})
	if err != nil {
		return "", err
	}
	s.revisions[key] = 0
	switch status := answer.Header.Get("Status"); status {
	case "404":
		return "", nil
	case "":
		s.revisions[key], err = strconv.ParseUint(answer.Header.Get("Nats-Sequence"), 10, 64)
		return string(answer.Data), err
	default:
		return "", fmt.Errorf("the server answers with the status %s", status)
	}
}

func (s *bucketStore) write(ctx context.Context, op checker.Op, key string) error {
	header := nats.Header{opHeader: {op.ID}}
	if s.compares {
		header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(s.revisions[key], 10))
	}
	answer, err := s.conn.RequestMsgWithContext(ctx, &nats.Msg{Subject: simnats.Subject(key), Data: []byte(op.ID),
		Header: header})
	if err != nil {
		return err
	}
	var ack struct {
		Error *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(answer.Data, &ack); {
	case err != nil:
		return err
	case ack.Error == nil:
		return nil
	case ack.Error.Code == 10071: // wrong last sequence
		return errRevision
	default:
		return errors.New(ack.Error.Description)
	}
}
