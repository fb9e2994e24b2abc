package rediscluster

import "strings"

// Slots is the number of slots of a cluster.
const Slots = 16384

// Slot is the slot of a key: the CRC16 of its hash tag, which is what stands between the first { and the first } after
// it, or of the whole key if that is empty.
func Slot(key string) int {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if length := strings.IndexByte(key[open+1:], '}'); length > 0 {
			key = key[open+1 : open+1+length]
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^key[i]]
	}
	return int(crc % Slots)
}

// crcTable is of CRC16 XMODEM, with the polynomial 0x1021.
var crcTable = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		t[i] = crc
	}
	return t
}()

// slotSet is a set of slots. It does not change once it has been sent.
type slotSet [Slots / 64]uint64

func (s *slotSet) has(slot int) bool { return s[slot/64]&(1<<(slot%64)) != 0 }
func (s *slotSet) add(slot int)      { s[slot/64] |= 1 << (slot % 64) }

// table says which node serves each slot, by its index; none for a slot without one.
type table [Slots]int8

const none = -1

// ranges calls f with each run of slots of one node, in order.
func (t *table) ranges(f func(first, last int, owner int)) {
	for first := 0; first < Slots; {
		last := first
		for last+1 < Slots && t[last+1] == t[first] {
			last++
		}
		f(first, last, int(t[first]))
		first = last + 1
	}
}
