package main

import "time"

// over is the spread of a figure over some cells.
func over(cells []*measured, of func(*measured) float64) spread {
	var all []float64
	for _, c := range cells {
		all = append(all, of(c))
	}
	return spreadOf(all)
}

// The figures of a cell, as ratios to a SET.
func rate(c *measured) float64       { return c.Cell.rate() / c.set.rate }
func acquire50(c *measured) float64  { return c.inSETs(c.Cell.Acquire.P50) }
func acquire99(c *measured) float64  { return c.inSETs(c.Cell.Acquire.P99) }
func release50(c *measured) float64  { return c.inSETs(c.Cell.Release.P50) }
func release99(c *measured) float64  { return c.inSETs(c.Cell.Release.P99) }
func handover50(c *measured) float64 { return c.inSETs(c.Cell.Handover.P50) }
func handover99(c *measured) float64 { return c.inSETs(c.Cell.Handover.P99) }

// inSETs is a time in SETs of as many clients.
func (c *measured) inSETs(d time.Duration) float64 { return float64(d) / float64(c.set.p50) }

// requests is the requests for a grant, each of which is one SET.
func requests(c *measured) float64 {
	return perGrant(c.Cell, c.Cell.Traffic.Requests) / perGrant(c.Base, c.Base.Traffic.Requests)
}

// bytes is the bytes for a grant, both ways, as a ratio to those of a SET.
func bytes(c *measured) float64 {
	both := func(c cell) float64 { return perGrant(c, c.Traffic.Sent+c.Traffic.Received) }
	return both(c.Cell) / both(c.Base)
}

func perGrant(c cell, n int64) float64 { return float64(n) / float64(c.Grants) }

// between is how a figure of a row compares with that of another one in the same round; ok says whether both have one.
func (r results) between(row, other string, l load, of func(*measured) float64) (s spread, ok bool) {
	var all []float64
	for _, c := range r.of(row, l) {
		for _, d := range r.of(other, l) {
			if c.Round == d.Round {
				all = append(all, of(c)/of(d))
			}
		}
	}
	return spreadOf(all), len(all) > 0
}
