package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// A NodeError is the answer of one node of a [Redlock] to a request that failed as a whole.
type NodeError struct {
	// Node is the index of the client in the argument of [NewRedlock].
	Node int

	// Err is why there was no answer, or says that the node refused: the key was taken, or gone.
	Err error
}

func (e NodeError) Error() string { return fmt.Sprintf("r%d: %v", e.Node, e.Err) }

// Unwrap returns Err.
func (e NodeError) Unwrap() error { return e.Err }

// NodeErrors are the nodes that did not agree, in ascending order. To find them in an error:
//
//	var nodes lock.NodeErrors
//	if errors.As(err, &nodes) { ... }
type NodeErrors []NodeError

func (e NodeErrors) Error() string {
	var all []string
	for _, node := range e {
		all = append(all, node.Error())
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the elements.
func (e NodeErrors) Unwrap() []error {
	var all []error
	for _, node := range e {
		all = append(all, node)
	}
	return all
}

// vote is one node's answer: yes, no, or none.
type vote struct {
	yes     bool
	counter uint64 // the counter of a node of a RedlockFenced
	err     error  // why there is no answer
}

// newVote is the vote for a request's result. Its error says whether the request may have been carried out.
func newVote(yes bool, err error) vote {
	if err != nil && !errors.Is(err, ErrOutcomeUnknown) {
		err = outcome(err)
	}
	return vote{yes: yes && err == nil, err: err}
}

// votes are the answers of all nodes, in the order of the nodes.
type votes []vote

// ask sends a question to every node at once, and waits until each has answered or timed out. So nothing that it has
// started outlives it. The caller's goroutine asks the first node.
func (q *quorum) ask(ctx context.Context, each time.Duration, question func(context.Context, Redis) vote) votes {
	ctx, cancel := within(ctx, each)
	defer cancel()
	all := make(votes, len(q.nodes))
	var asked sync.WaitGroup
	for i, node := range q.nodes[1:] {
		asked.Go(func() { all[i+1] = question(ctx, node) })
	}
	all[0] = question(ctx, q.nodes[0])
	asked.Wait()
	return all
}

// majority is the number of nodes in a majority.
func (v votes) majority() int { return len(v)/2 + 1 }

// passed reports whether a majority said yes.
func (v votes) passed() bool {
	yes, _, _ := v.count()
	return yes >= v.majority()
}

// rejected reports whether so many said no that no majority can say yes.
func (v votes) rejected() bool {
	_, no, _ := v.count()
	return no > len(v)-v.majority()
}

// silent reports whether so many did not answer that the rest is no majority.
func (v votes) silent() bool {
	_, _, failed := v.count()
	return failed > len(v)-v.majority()
}

func (v votes) count() (yes, no, failed int) {
	for _, vote := range v {
		switch {
		case vote.err != nil:
			failed++
		case vote.yes:
			yes++
		default:
			no++
		}
	}
	return yes, no, failed
}

// The meaning of a node's no. These are no sentinels: the answer of one node is not that of all.
const (
	taken = "taken"
	gone  = "gone or another's"
)

// granted returns nil if the vote passed, an error that wraps ErrNoQuorum if no majority answered, and
// else one that wraps ErrTaken.
func (v votes) granted(no string) error {
	switch {
	case v.passed():
		return nil
	case v.silent():
		return v.noQuorum(no)
	}
	yes, _, _ := v.count()
	return fmt.Errorf("%w: %d of %d nodes granted it, %d are needed: %w", ErrTaken, yes, len(v), v.majority(), v.dissent(no))
}

// noQuorum is the error of a vote that failures have left undecided.
func (v votes) noQuorum(no string) error {
	yes, _, _ := v.count()
	return fmt.Errorf("%w: %d of %d nodes agreed, %d are needed: %w", ErrNoQuorum, yes, len(v), v.majority(), v.dissent(no))
}

// dissent lists the nodes that did not say yes.
func (v votes) dissent(no string) NodeErrors {
	var list NodeErrors
	for i, vote := range v {
		switch {
		case vote.err != nil:
			list = append(list, NodeError{i, vote.err})
		case !vote.yes:
			list = append(list, NodeError{i, errors.New(no)})
		}
	}
	return list
}

// unanswered lists the nodes that did not answer.
func (v votes) unanswered() NodeErrors {
	var list NodeErrors
	for i, vote := range v {
		if vote.err != nil {
			list = append(list, NodeError{i, vote.err})
		}
	}
	return list
}
