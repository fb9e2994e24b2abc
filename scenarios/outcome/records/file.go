package records

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/outcome"
)

// Version is the version of files of records that this package reads and writes.
const Version = 1

// Kind is the word for files of records.
const Kind = "records"

// Suffix is the end of the names of files of records. The record of DIR/run.json is in DIR/run.records.gz.
const Suffix = ".records.gz"

// Beside is the name of the file with the record of a stored run, which is in the file of that name.
func Beside(run string) string { return strings.TrimSuffix(run, ".json") + Suffix }

// header is the first line of a file.
type header struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`
}

// Writer writes a file of records. Close ends it.
type Writer struct{ zip *gzip.Writer }

// NewWriter begins a file.
func NewWriter(w io.Writer) (*Writer, error) {
	zip := gzip.NewWriter(w)
	if err := json.NewEncoder(zip).Encode(header{Version, Kind}); err != nil {
		return nil, fmt.Errorf("write records: %w", err)
	}
	return &Writer{zip}, nil
}

// Write adds a run.
func (w *Writer) Write(r *Run) error {
	line, err := r.line()
	if err == nil {
		_, err = w.zip.Write(line)
	}
	if err != nil {
		return fmt.Errorf("write the record of %s with lock %s: %w", r.Stored.Scenario, r.Stored.Lock, err)
	}
	return nil
}

func (r *Run) line() ([]byte, error) {
	encoded := func() ([]byte, error) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(r)
		return b.Bytes(), err
	}
	line, err := encoded()
	if err != nil || !bytes.Contains(line, []byte(noText)) && !bytes.ContainsFunc(line, isByte) {
		return line, err
	}
	for _, m := range r.Modes { // a rare case: some bytes are no text
		record := reflect.ValueOf(m.Record)
		texts(record, asText)
		defer texts(record, asBytes)
	}
	return encoded()
}

// noText is how the encoder of JSON writes a byte that is no text.
const noText = `\ufffd`

// Close writes what is left. It does not close the writer below.
func (w *Writer) Close() error { return w.zip.Close() }

// File is the file of one run.
func File(o *outcome.Outcome) ([]byte, error) {
	r, err := Of("", o)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		return nil, err
	}
	err = errors.Join(w.Write(r), w.Close())
	return b.Bytes(), err
}

// maxLine limits the bytes of a run in a file, far above those of the longest run.
const maxLine = 256 << 20

// Read reads a file of records, and checks that each run can be judged. servers are the kinds of servers that do not
// come with locksim. Every fault of the file is an *InputError, whose line is that of the text in the gzip.
func Read(name string, r io.Reader, servers ...server.Facts) ([]*Run, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, problem(name, 0, "it is not gzip: %v; %s", err, again)
	}
	return ReadText(name, zip, servers...)
}

// ReadText reads the text of a file of records, as it is in the gzip: see [Read].
func ReadText(name string, text io.Reader, servers ...server.Facts) ([]*Run, error) {
	lines := bufio.NewReader(text)
	var all []*Run
	for n := 1; ; n++ {
		line, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0 && n > 1:
			return all, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, problem(name, n, "it is cut off: its text is incomplete; %s", again)
		case err != nil:
			return nil, problem(name, n, "%v; %s", err, again)
		case n == 1:
			if err := readHeader(line); err != nil {
				return nil, problem(name, n, "%v", err)
			}
			continue
		}
		run, err := readRun(name, line, servers)
		if err != nil {
			return nil, problem(name, n, "%v; %s", err, again)
		}
		all = append(all, run)
	}
}

// again is what to do about records that are damaged.
const again = "make the run again, and store it with this version of locksim"

// problem is an error about a line of a file, 0 for the file as a whole.
func problem(name string, line int, format string, args ...any) error {
	pos := faults.Pos{File: name}
	if line > 0 {
		pos.Line, pos.Column = line, 1
	}
	return &file.InputError{Pos: pos,
		Msg: "these records cannot be judged: " + fmt.Sprintf(format, args...)}
}

// readLine reads a line that ends. The error is io.EOF if the text is over.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("a run has more than %d MiB", maxLine>>20)
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

func readHeader(line []byte) error {
	var h header
	if err := json.Unmarshal(line, &h); err != nil || h.Kind != Kind {
		return errors.New("the first line does not say that it is a file of records: give one that locksim has written")
	}
	if h.Version != Version {
		return fmt.Errorf("they have version %d, and this locksim reads version %d: take the locksim that has written "+
			"them, or play the runs again", h.Version, Version)
	}
	return nil
}

func readRun(name string, line []byte, servers []server.Facts) (*Run, error) {
	if !json.Valid(line) { // also if more than one value is in the line
		var any json.RawMessage
		return nil, errors.New(wrong(json.Unmarshal(line, &any)))
	}
	type withoutRun Run
	var parts struct {
		Stored json.RawMessage `json:"run"` // in place of that of Run
		withoutRun
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&parts); err != nil {
		return nil, errors.New(wrong(err))
	}
	if parts.Stored == nil {
		return nil, errors.New("there is no run in the line")
	}
	r := (*Run)(&parts.withoutRun)
	var err error
	if r.Stored, err = outcome.ReadRunFile(name, parts.Stored); err != nil {
		if input, ok := errors.AsType[*file.InputError](err); ok {
			return nil, errors.New("its run: " + input.Msg)
		}
		return nil, err
	}
	for _, m := range r.Modes {
		if bytes.ContainsFunc(line, isByte) {
			texts(reflect.ValueOf(m.Record), asBytes)
		}
	}
	return r, r.prepare(servers)
}

// wrong is an error of the JSON decoder in words.
func wrong(err error) string {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("the value of %s has the wrong type, %s", strings.TrimPrefix(kind.Field, "withoutRun."),
			kind.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return "it has a field " + field + ", which this version of locksim does not know: so that a newer one has written " +
			"it, which can judge it"
	}
	return "it is not JSON: " + strings.TrimPrefix(err.Error(), "json: ")
}
