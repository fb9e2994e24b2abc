package zklocks

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/fences"
	"locksim/scenarios/subject"
	"locksim/sim/zookeeper"
)

// Fences are nodes of ZooKeeper whose data begins with the highest token, by the rules check and seal, for the command
// to put on trial.
func Fences() []subject.Lock {
	return []subject.Lock{Fence(fence.Check).Subject(), Fence(fence.Seal).Subject()}
}

// Fence is a store in ZooKeeper with a node for each key, zookeeper-check or zookeeper-seal. The node has the highest
// token and the value, and is set if its version is the one at which the token was compared.
func Fence(rule fence.Mode) fences.Fence {
	return fences.Fence{
		Name: "zookeeper-" + string(rule), Rule: rule, Servers: needs(),
		Faults: append(fences.DefaultFaults(), lock.FaultNodeCrash, lock.FaultNodePower),
		About: "A node of ZooKeeper that has the highest token and the value, rule " + string(rule) + ": it is set if its " +
			"version is still the one at which the token was compared.",
		Open: func(e subject.Env) (fences.Store, error) {
			c, err := connect(e, zookeeper.Dialer(e), nil)
			return &versioned{c, rule}, err
		},
	}
}

// versioned is a store behind comparisons of the version.
type versioned struct {
	conn *zk.Conn
	rule fence.Mode
}

// Read implements [fences.Store]. A member may answer a read by what it has not heard of yet: the value is that of a
// node which was set at its version. So a read counts as one of rule check sets what is there.
func (s *versioned) Read(ctx context.Context, key string, op fence.Op) (string, error) {
	return s.decide(ctx, key, op, s.rule.Read, nil)
}

// Write implements [fences.Store].
func (s *versioned) Write(ctx context.Context, key, value string, op fence.Op) error {
	_, err := s.decide(ctx, key, op, s.rule.Write, &value)
	return err
}

// decide is carryOut, and returns when ctx ends: the calls of the client have no context, and last until it has a
// connection again.
func (s *versioned) decide(ctx context.Context, key string, op fence.Op,
	rule func(fence.State, fence.Op) (fence.State, error), value *string,
) (was string, err error) {
	type answer struct {
		was string
		err error
	}
	done := make(chan answer, 1)
	go func() {
		was, err := s.carryOut(ctx, key, op, rule, value)
		done <- answer{was, err}
	}()
	select {
	case a := <-done:
		return a.was, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// carryOut sets the node, with a value or with the one that it has, if the rule takes an operation. It returns the
// value that was there.
func (s *versioned) carryOut(ctx context.Context, key string, op fence.Op,
	rule func(fence.State, fence.Op) (fence.State, error), value *string,
) (was string, err error) {
	path := "/" + url.PathEscape(key)
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		data, stat, err := s.conn.Get(path)
		if errors.Is(err, zk.ErrNoNode) {
			if _, err = s.conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err == nil || errors.Is(err, zk.ErrNodeExists) {
				continue
			}
		}
		if err != nil {
			return "", err
		}
		token, was, _ := strings.Cut(string(data), " ")
		var state fence.State
		if token != "" {
			if state.Highest, err = strconv.ParseUint(token, 10, 64); err != nil {
				return "", fmt.Errorf("node %s begins with %q, which is no token", path, token)
			}
		}
		next, err := rule(state, op)
		if err != nil {
			return "", err
		}
		now := was
		if value != nil {
			now = *value
		}
		_, err = s.conn.Set(path, fmt.Appendf(nil, "%d %s", next.Highest, now), stat.Version)
		if errors.Is(err, zk.ErrBadVersion) {
			continue // another operation came between, or what was read is old
		}
		if err != nil {
			return "", err
		}
		return was, nil
	}
}
