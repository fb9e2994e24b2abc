package checker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// How the data stands in porcupine's page.
var (
	beforeData = []byte("\n      const data = ")
	afterData  = []byte("\n\n      render(data)")
)

// drawing is porcupine's data. The operations, and notes, which we have none of,
// are left as they are.
type drawing struct {
	Partitions  []drawnPartition
	Annotations json.RawMessage
}

type drawnPartition struct {
	History               json.RawMessage
	PartialLinearizations [][]drawnStep
	// Largest says for each operation which of the orders is the longest that has
	// it.
	Largest map[int]int
}

type drawnStep struct {
	Index            int
	StateDescription string
}

// steady puts the orders in porcupine's page into an order of their own: they
// come out of a map.
func steady(page []byte) ([]byte, error) {
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

// sort puts the longest order first, each once.
func (p *drawnPartition) sort() {
	slices.SortFunc(p.PartialLinearizations, compareOrders)
	p.PartialLinearizations = slices.CompactFunc(p.PartialLinearizations, func(a, b []drawnStep) bool { return compareOrders(a, b) == 0 })
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
	return cmp.Or(cmp.Compare(len(b), len(a)), slices.CompareFunc(a, b, func(x, y drawnStep) int { return cmp.Compare(x.Index, y.Index) }))
}
