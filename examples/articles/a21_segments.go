package articles

import "fmt"

// segments is how many locks recipe A21 has for all ids.
const segments = 16

// segment is recipe A21: the name of the lock of an id, of which many share one. The text promises that there are 16 of
// them, and that one client has the lock of an id at a time.
func segment(id int64) string { return fmt.Sprintf("segment:%d", id%segments) }
