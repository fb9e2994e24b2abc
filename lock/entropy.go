package lock

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
)

// readEntropy reads 128 bits.
func readEntropy(r io.Reader) (bits [16]byte, err error) {
	_, err = io.ReadFull(r, bits[:])
	return bits, err
}

// newJitter makes the default source of jitter.
func newJitter(seed [16]byte) rand.Source {
	return rand.NewPCG(binary.BigEndian.Uint64(seed[:8]), binary.BigEndian.Uint64(seed[8:]))
}
