package runfolder

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"locksim/scenarios/outcome/records"
)

// StoredRun is a file with a stored run, a file with records of runs, or a run with its record. The names are paths in
// the folder.
type StoredRun struct {
	// Run is the file of the run; "" where only records are stored, as those of all runs of a campaign.
	Run string
	// Records is the file of records; "" for a run without one.
	Records string
}

// Name is the path of the run or, without one, of the records.
func (s StoredRun) Name() string {
	if s.Run != "" {
		return s.Run
	}
	return s.Records
}

// maxDocument limits the bytes of a document that is looked at to find out what it is.
const maxDocument = 16 << 20

// StoredRuns finds the stored runs in a folder and in those below it, sorted by path. It follows no link, and leaves
// out files and folders whose names begin with a dot. The error is one of the file system.
func StoredRuns(fsys fs.FS) ([]StoredRun, error) {
	var found []StoredRun
	besides := map[string]bool{} // files of records that are those of a run
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && name != ".":
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.Type().IsRegular():
		case strings.HasSuffix(name, records.Suffix):
			found = append(found, StoredRun{Records: name})
		case path.Ext(name) == ".json":
			is, err := isRun(fsys, name, d)
			if err != nil || !is {
				return err
			}
			s := StoredRun{Run: name}
			if info, err := fs.Stat(fsys, records.Beside(name)); err == nil && info.Mode().IsRegular() {
				s.Records = records.Beside(name)
				besides[s.Records] = true
			}
			found = append(found, s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(s StoredRun) bool { return s.Run == "" && besides[s.Records] })
	slices.SortFunc(found, func(a, b StoredRun) int { return strings.Compare(a.Name(), b.Name()) })
	return found, nil
}

// isRun reports whether a document is a stored run. One that commands have named so is, also if it is damaged; that of
// a test has any name, and is found by its keys.
func isRun(fsys fs.FS, name string, d fs.DirEntry) (bool, error) {
	named, err := path.Match("found-*.json", d.Name())
	if named || err != nil || d.Name() == "run.json" {
		return true, err
	}
	info, err := d.Info()
	if err != nil || info.Size() > maxDocument {
		return false, err
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return false, err
	}
	var keys struct {
		Kind   *string                    `json:"kind"`
		Lock   *string                    `json:"lock"`
		Modes  map[string]json.RawMessage `json:"modes"`
		Source *string                    `json:"source"`
	}
	err = json.Unmarshal(data, &keys)
	return err == nil && keys.Kind == nil && keys.Lock != nil && keys.Source != nil && len(keys.Modes) > 0, nil
}
