package checker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The limits of a [Picture].
const (
	// maxPictureOperations bounds the operations of one drawing.
	maxPictureOperations = 150
	// maxPictureBytes bounds the page of one drawing.
	maxPictureBytes = 300_000
)

// Picture is porcupine's own drawing of one of the searches of [Corroborate]:
// the operations as boxes, and the orders that it has tried as lines through
// them.
type Picture struct {
	// Name is the subject of the search: a cell, a lock, a counter, a queue.
	Name string
	// Ordered says that the search found an order for all.
	Ordered bool
	// Rows is how many rows the drawing has.
	Rows int
	// Page is the drawing as a complete HTML page, which needs no network, but
	// JavaScript. It is porcupine's except for the order of its data: the same
	// history gives the same bytes. Show it in a sandbox.
	Page []byte
	// Omitted says why there is no Page.
	Omitted string
}

// Pictures draws the searches over the data, and those of the other searches
// that found no order. An epilogue without operations is not drawn.
//
// It starts goroutines, so it must not run inside a synctest bubble. The error
// wraps [ErrMalformed], or says that this version of porcupine draws
// differently.
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
	for _, p := range slices.Concat(storeParts(h), others) {
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

func (p part) draw() (Picture, error) {
	out := Picture{Name: p.name}
	if n := len(p.ops); n > maxPictureOperations {
		out.Omitted = fmt.Sprintf("there are %d operations, and more than %d are not drawn", n, maxPictureOperations)
		return out, nil
	}
	ops, rows := inRows(p.ops)
	model, exhausted := p.bounded()
	result, info := porcupine.CheckOperationsVerbose(model, ops, 0)
	if exhausted() {
		out.Omitted = fmt.Sprintf("the search took more than %d steps", maxSearchSteps)
		return out, nil
	}
	out.Ordered, out.Rows = result == porcupine.Ok, rows
	var b bytes.Buffer
	described := escaped(p.model)
	if err := porcupine.Visualize(described.ToModel(), info, &b); err != nil {
		return out, fmt.Errorf("draw %s: %w", p.name, err)
	}
	page, err := sortPage(b.Bytes())
	if err != nil {
		return out, fmt.Errorf("draw %s: %w", p.name, err)
	}
	if n := len(page); n > maxPictureBytes {
		out.Omitted = fmt.Sprintf("the drawing would take %d kB, more than %d", n/1000, maxPictureBytes/1000)
		return out, nil
	}
	out.Page = page
	return out, nil
}

// escaped is a model whose descriptions contain no markup: porcupine writes
// them into its page as HTML.
func escaped(m porcupine.NondeterministicModel) porcupine.NondeterministicModel {
	plain := strings.NewReplacer("<", "‹", ">", "›", "&", "＆").Replace
	operation, state := m.DescribeOperation, m.DescribeState
	m.DescribeOperation = func(input, output any) string { return plain(operation(input, output)) }
	m.DescribeState = func(s any) string { return plain(state(s)) }
	return m
}

// inRows puts operations of the same client into the same row, unless they
// overlap: porcupine would draw them over each other. Operations without an end
// are cut off after all others.
func inRows(ops []porcupine.Operation) (placed []porcupine.Operation, rows int) {
	placed = slices.Clone(ops)
	boundReturns(placed)
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

// compareActors puts c2 before c10, and operations without a client last.
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

// actorOf is the client of an operation. The epilogue, and operations of a
// queue, have none.
func actorOf(input any) string {
	switch in := input.(type) {
	case unit:
		return in.op.Client
	case lockOp:
		return in.client
	case tokenOp:
		return in.Client
	case sectionOp:
		if len(in.writes) > 0 {
			return in.writes[0].Client
		}
	}
	return ""
}

// The text around the data in porcupine's page.
var (
	beforeData = []byte("\n      const data = ")
	afterData  = []byte("\n\n      render(data)")
)

// drawing is porcupine's data. The operations and the annotations, of which
// there are none, stay as they are.
type drawing struct {
	Partitions  []drawnPartition
	Annotations json.RawMessage
}

type drawnPartition struct {
	History               json.RawMessage
	PartialLinearizations [][]drawnStep
	// Largest has, for each operation, the index of the longest order with it.
	Largest map[int]int
}

type drawnStep struct {
	Index            int
	StateDescription string
}

// sortPage sorts the orders in porcupine's page, which come out of a map.
func sortPage(page []byte) ([]byte, error) {
	head, rest, begins := bytes.Cut(page, beforeData)
	data, tail, ends := bytes.Cut(rest, afterData)
	if !begins || !ends {
		return nil, errors.New("porcupine's page is not as it was in v1.3.1: its data is not where it is looked for")
	}
	var d drawing
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("porcupine's page is not as it was in v1.3.1: %w", err)
	}
	for i := range d.Partitions {
		d.Partitions[i].sort()
	}
	sorted, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return slices.Concat(head, beforeData, sorted, afterData, tail), nil
}

// sort puts the longest order first, without duplicates.
func (p *drawnPartition) sort() {
	slices.SortFunc(p.PartialLinearizations, compareOrders)
	p.PartialLinearizations = slices.CompactFunc(p.PartialLinearizations,
		func(a, b []drawnStep) bool { return compareOrders(a, b) == 0 })
	p.Largest = map[int]int{}
	for i, order := range p.PartialLinearizations {
		for _, step := range order {
			if _, known := p.Largest[step.Index]; !known {
				p.Largest[step.Index] = i
			}
		}
	}
}

func compareOrders(a, b []drawnStep) int {
	return cmp.Or(cmp.Compare(len(b), len(a)),
		slices.CompareFunc(a, b, func(x, y drawnStep) int { return cmp.Compare(x.Index, y.Index) }))
}
