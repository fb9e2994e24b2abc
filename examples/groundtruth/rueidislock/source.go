package main

import (
	"math/rand"
	"sync"
	_ "unsafe" // for go:linkname
)

// sources is the pool from which old versions take what they draw random numbers from: each is made with the time as
// its seed, and kept, so that two processes of an instant would draw the same, and the next run what this one has left.
//
//go:linkname sources github.com/redis/rueidis/rueidislock.sources
var sources sync.Pool

func init() { sources = sync.Pool{New: func() any { return seeded{} }} }

// seeded draws what the seed of the run decides.
type seeded struct{}

func (seeded) Int63() int64   { return rand.Int63() }
func (seeded) Uint64() uint64 { return rand.Uint64() }
func (seeded) Seed(int64)     {}
