package etcdlocks

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/fences"
	"locksim/scenarios/subject"
)

// Fences are transactions of etcd that compare tokens, by the rules check and seal, for the command to put on trial.
func Fences() []subject.Lock {
	return []subject.Lock{Fence(fence.Check).Subject(), Fence(fence.Seal).Subject()}
}

// Fence is a store in etcd with a key for the value and one for the rule, etcd-check or etcd-seal. A transaction writes
// both if the latter is as it was when the token was compared.
func Fence(rule fence.Mode) fences.Fence {
	return fences.Fence{
		Name: "etcd-" + string(rule), Rule: rule, Servers: servers(),
		Faults: append(fences.DefaultFaults(), lock.FaultNodeCrash, lock.FaultNodePower),
		About: "A key in etcd and beside it the highest token, rule " + string(rule) + ": a transaction writes both if the " +
			"token is still the one that was compared.",
		Open: func(e subject.Env) (fences.Store, error) {
			c, err := client(e)
			return &compared{c, rule}, err
		},
	}
}

// compared is a store behind comparisons in transactions.
type compared struct {
	client *clientv3.Client
	rule   fence.Mode
}

// Read implements [fences.Store].
func (s *compared) Read(ctx context.Context, key string, op fence.Op) (value string, err error) {
	if s.rule == fence.Check { // reads do not count
		r, err := s.client.Get(ctx, key)
		if err != nil || len(r.Kvs) == 0 {
			return "", err
		}
		return string(r.Kvs[0].Value), nil
	}
	return s.decide(ctx, key, op, s.rule.Read, clientv3.OpGet(key))
}

// Write implements [fences.Store].
func (s *compared) Write(ctx context.Context, key, value string, op fence.Op) error {
	_, err := s.decide(ctx, key, op, s.rule.Write, clientv3.OpPut(key, value))
	return err
}

// decide carries an operation out if the rule takes it. What it read is the value.
func (s *compared) decide(ctx context.Context, key string, op fence.Op,
	rule func(fence.State, fence.Op) (fence.State, error), then clientv3.Op,
) (value string, err error) {
	token := key + "/token"
	for {
		found, err := s.client.Get(ctx, token)
		if err != nil {
			return "", err
		}
		var state fence.State
		revision := int64(0) // of a key that is not there
		if len(found.Kvs) > 0 {
			revision = found.Kvs[0].ModRevision
			if _, err := fmt.Sscan(string(found.Kvs[0].Value), &state.Highest); err != nil {
				return "", fmt.Errorf("key %s holds %q, which is no token: %w", token, found.Kvs[0].Value, err)
			}
		}
		next, err := rule(state, op)
		if err != nil {
			return "", err
		}
		r, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(token), "=", revision)).
			Then(clientv3.OpPut(token, fmt.Sprint(next.Highest)), then).Commit()
		switch {
		case err != nil:
			return "", err
		case !r.Succeeded:
			continue // another token came between
		}
		if got := r.Responses[1].GetResponseRange(); got != nil && len(got.Kvs) > 0 {
			value = string(got.Kvs[0].Value)
		}
		return value, nil
	}
}
