package redis

// Persistence is what a Redis node keeps over a crash.
type Persistence string

const (
	// PersistNone keeps nothing: the node comes back empty.
	PersistNone Persistence = "none"
	// PersistRDB keeps the last snapshot, whatever the crash was.
	PersistRDB Persistence = "rdb"
	// PersistEverysec writes a log and has it on disk every second: a process
	// that dies loses nothing, since the page cache outlives it, and a power
	// loss loses up to a second (F17).
	PersistEverysec Persistence = "everysec"
	// PersistAlways has each write on disk before it is answered.
	PersistAlways Persistence = "always"
)

// Persistences lists them, the default first. The caller owns the slice.
func Persistences() []Persistence {
	return []Persistence{PersistNone, PersistRDB, PersistEverysec, PersistAlways}
}
