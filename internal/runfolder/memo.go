package runfolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// maxBytes bounds the size of a file that is read for an index.
const maxBytes = 64 << 20

// cachedFile is the result of reading a file, with the size and the time by which a
// change is noticed.
type cachedFile struct {
	size  int64
	mod   time.Time
	value any
	err   error
}

// readCached is what parse returns for a file of a folder, and when the file changed
// last. A file that has not changed since it was read is not read again.
func readCached[T any](c *scan, f folder, name string, parse func(name string, data []byte) (T,
	error)) (T, time.Time, error) {
	var none T
	info, err := f.files[name].Info()
	if err != nil {
		return none, time.Time{}, err
	}
	if !info.Mode().IsRegular() {
		return none, time.Time{}, errors.New("not a regular file")
	}
	full := path.Join(f.dir, name)
	m, ok := c.cache[full]
	if !ok || m.size != info.Size() || !m.mod.Equal(info.ModTime()) {
		m = cachedFile{size: info.Size(), mod: info.ModTime()}
		m.value, m.err = parseFile(c.FS, full, parse)
	}
	c.seen[full] = m
	value, _ := m.value.(T)
	return value, m.mod, m.err
}

func parseFile[T any](fsys fs.FS, name string, parse func(string, []byte) (T, error)) (value T, err error) {
	file, err := fsys.Open(name)
	if err != nil {
		return value, err
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return value, err
	}
	if len(data) > maxBytes {
		return value, fmt.Errorf("the file is longer than %d MiB", maxBytes>>20)
	}
	return parse(path.Base(name), data)
}

// reason is an error on one line, without the path, which the entry has already.
func reason(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return first
}

// timeText is a time as an index shows it, "" in an index without times.
func (c *scan) timeText(t time.Time) string {
	if c.Now == nil || t.IsZero() {
		return ""
	}
	return t.Format(time.DateTime)
}
