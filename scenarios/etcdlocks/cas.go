package etcdlocks

import (
	"context"
	"errors"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/trace"
)

// CompareAndSet is no lock: a transaction writes a key only if its revision is the one that was read.
func CompareAndSet() subject.Lock {
	k := Kind()
	k.Make = func(members int) sim.Kind {
		return etcd.Servers{Members: members, Protected: &etcd.Protected{Of: operation, Where: dataKey}}
	}
	l := subject.Unlocked("etcd-cas", []subject.Servers{{Kind: k, Count: members}}, Lock().Promise.Exclusion, openKeys)
	l.About = "No lock: a transaction on a cluster of etcd writes a key only if its revision is the one that was read, " +
		"and otherwise the client reads again, three times in all."
	l.ForWhom = "Changes of a key of the same etcd that rarely meet, and that may be computed again."
	return l
}

// dataPrefix begins the keys of the protected data, opPrefix those of which a transaction compares one, which does not
// exist: it names the operation that the transaction is about, for the record of the world.
const (
	dataPrefix = "data/"
	opPrefix   = "op/"
)

func dataKey(resource, register string) string { return dataPrefix + resource + "/" + register }

// keyStore is the access of a client to the data.
type keyStore struct {
	client    *clientv3.Client
	compares  bool
	revisions map[string]int64 // by the key, as the client has read them last
}

func openKeys(e subject.Env, mode fence.Mode) (subject.Store, error) {
	c, err := client(e)
	return &keyStore{client: c, compares: mode != fence.None, revisions: map[string]int64{}}, err
}

var errRevision = errors.New("the revision is another")

// Do implements [subject.Store].
func (s *keyStore) Do(ctx context.Context, op checker.Op, _ string) (saw string, outcome checker.Outcome, err error) {
	key := dataKey(string(op.Resource), op.Register)
	compared := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(opPrefix+op.ID), "=", 0)}
	then := clientv3.OpGet(key)
	if op.Kind == checker.Write {
		then = clientv3.OpPut(key, op.ID)
		if s.compares {
			compared = append(compared, clientv3.Compare(clientv3.ModRevision(key), "=", s.revisions[key]))
		}
	}
	r, err := s.client.Txn(ctx).If(compared...).Then(then).Commit()
	switch {
	case err != nil:
		return "", checker.OutcomeUnknown, err
	case !r.Succeeded:
		return "", checker.OutcomeRefused, errRevision
	case op.Kind == checker.Write:
		return "", checker.OutcomeOK, nil
	}
	s.revisions[key] = 0
	if kvs := r.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		saw, s.revisions[key] = string(kvs[0].Value), kvs[0].ModRevision
	}
	return saw, checker.OutcomeOK, nil
}

// operation is what a transaction of a [keyStore] is about.
func operation(r *pb.TxnRequest) (op trace.Decision, ok bool) {
	if len(r.Compare) == 0 || len(r.Success) != 1 {
		return op, false
	}
	id, ours := strings.CutPrefix(string(r.Compare[0].Key), opPrefix)
	key := string(r.Success[0].GetRequestRange().GetKey())
	if put := r.Success[0].GetRequestPut(); put != nil {
		op.Write, key = true, string(put.Key)
	}
	slash := strings.LastIndexByte(key, '/') // no register has one in its name
	if !ours || !strings.HasPrefix(key, dataPrefix) || slash < len(dataPrefix) {
		return op, false
	}
	op.Resource, op.Register, op.Op = key[len(dataPrefix):slash], key[slash+1:], id
	return op, true
}
