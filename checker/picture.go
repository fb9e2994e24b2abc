package checker

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The limits of a [Picture].
const (
	// MaxPictureOperations bounds the operations of one drawing.
	MaxPictureOperations = 150
	// MaxPictureBytes bounds the page of one drawing.
	MaxPictureBytes = 300_000
)

// Picture is porcupine's own drawing of one of the searches of [Corroborate]:
// the operations as boxes, and through them, as lines, the orders that it has
// tried.
type Picture struct {
	// Name is what was searched: a cell, a lock, a counter, a queue.
	Name string
	// Ordered says that the search found an order for all.
	Ordered bool
	// Rows is how many rows the drawing has.
	Rows int
	// Page is the drawing as an HTML page of its own, which asks for nothing from
	// any network, and needs JavaScript. It is porcupine's, but for the order of
	// its data: the same history gives the same bytes. Show it in a sandbox.
	Page []byte
	// Omitted says why there is no Page.
	Omitted string
}

// Pictures draws the searches over the data, and of the others those that found
// no order. An epilogue that is alone is not drawn.
//
// It starts goroutines of its own, so it must not run inside a synctest bubble.
// The error wraps [ErrMalformed], or says that this version of porcupine draws in
// another way.
func Pictures(h History) ([]Picture, error) {
	if err := h.Validate(); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	others := slices.Concat(lockParts(h), tokenParts(h))
	if h.Queue == QueueFair {
		others = append(others, queueParts(h)...)
	}
	others = slices.DeleteFunc(others, func(p part) bool { return len(searchAll([]part{p}).failed) == 0 })
	var all []Picture
	for _, p := range slices.Concat(dataParts(h), others) {
		if len(p.ops) < 2 {
			continue
		}
		drawn, err := p.draw()
		if err != nil {
			return nil, err
		}
		all = append(all, drawn)
	}
	return all, nil
}

// draw searches a part and has it drawn.
func (p part) draw() (Picture, error) {
	out := Picture{Name: p.name}
	if n := len(p.ops); n > MaxPictureOperations {
		out.Omitted = fmt.Sprintf("there are %d operations, and more than %d are not drawn", n, MaxPictureOperations)
		return out, nil
	}
	ops, rows := inRows(p.ops)
	model, exhausted := p.bounded()
	result, info := porcupine.CheckOperationsVerbose(model, ops, 0)
	if exhausted() {
		out.Omitted = fmt.Sprintf("the search took more than %d steps", MaxSearchSteps)
		return out, nil
	}
	out.Ordered, out.Rows = result == porcupine.Ok, rows
	var b bytes.Buffer
	described := harmless(p.model)
	if err := porcupine.Visualize(described.ToModel(), info, &b); err != nil {
		return out, fmt.Errorf("draw %s: %w", p.name, err)
	}
	page, err := steady(b.Bytes())
	if err != nil {
		return out, fmt.Errorf("draw %s: %w", p.name, err)
	}
	if n := len(page); n > MaxPictureBytes {
		out.Omitted = fmt.Sprintf("the drawing would take %d kB, more than %d", n/1000, MaxPictureBytes/1000)
		return out, nil
	}
	out.Page = page
	return out, nil
}

// harmless is a model whose descriptions have no markup: porcupine's page writes
// them into itself as HTML.
func harmless(m porcupine.NondeterministicModel) porcupine.NondeterministicModel {
	plain := strings.NewReplacer("<", "‹", ">", "›", "&", "＆").Replace
	operation, state := m.DescribeOperation, m.DescribeState
	m.DescribeOperation = func(input, output any) string { return plain(operation(input, output)) }
	m.DescribeState = func(s any) string { return plain(state(s)) }
	return m
}

// inRows puts operations of the same client into the same row, as far as they do
// not overlap: porcupine draws them over each other. What may come at any time is
// cut off behind everything else.
func inRows(ops []porcupine.Operation) (placed []porcupine.Operation, rows int) {
	placed = slices.Clone(ops)
	settled(placed)
	order := make([]int, len(placed))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := actorOf(placed[a].Input), actorOf(placed[b].Input)
		return cmp.Or(compareActors(x, y), cmp.Compare(placed[a].Call, placed[b].Call))
	})
	var ends []int64 // of the rows of one client
	actor := ""
	for n, i := range order {
		if who := actorOf(placed[i].Input); n == 0 || who != actor {
			rows, ends, actor = rows+len(ends), nil, who
		}
		row := slices.IndexFunc(ends, func(end int64) bool { return end < placed[i].Call })
		if row < 0 {
			row, ends = len(ends), append(ends, 0)
		}
		ends[row], placed[i].ClientId = placed[i].Return, rows+row
	}
	return placed, rows + len(ends)
}

// compareActors puts c2 before c10, and what nobody does last.
func compareActors(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// actorOf is the client behind an operation. The epilogue, and the places in a
// queue, have none.
func actorOf(input any) string {
	switch in := input.(type) {
	case unit:
		return in.op.Client
	case turn:
		return in.client
	case mint:
		return in.Client
	case whole:
		if len(in.writes) > 0 {
			return in.writes[0].Client
		}
	}
	return ""
}
