package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locksim/checker"
	"locksim/cmd/locksim/internal/console"
	"locksim/faults"
	"locksim/internal/prose"
	"locksim/internal/runfolder"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/replay"
)

// judgeFlags are the flags of the judge command.
type judgeFlags struct{ json bool }

func judgeCommand(s *shell) *cobra.Command {
	var f judgeFlags
	cmd := &cobra.Command{
		Use:   "judge DIR|FILE",
		Short: "Judge stored runs anew, without playing them",
		Long: `Judge says what the judge of this locksim says of stored runs: of each run.json and
found-1.json in a folder and below it, of the failures that tests have stored, and of
the records of all runs that explore --records has stored. It judges by the record that
is stored beside a run, such as run.records.gz, and plays nothing. It needs neither the
lock nor its servers.

A run without a record, of an older version, is played again, and judge says so. A run on
real servers cannot be: it needs its record.

For each run it prints the stored label and today's, and where the facts differ, which.

The exit code is 0 when all labels and facts are as they were stored, 1 when one is not,
and 2 when a file is damaged or cannot be judged: the others are judged all the same.`,
		Example: `  locksim run gc-pause --out /tmp/run
  locksim judge /tmp/run
  locksim explore --lock single --runs 500 --all --records --out /tmp/single
  locksim judge /tmp/single --json
  locksim judge testdata/locksim`,
		Args: exactly(1, "one folder with stored runs, or one file, such as DIR/run.json"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(s, args[0]) },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document; see locksim schema judge")
	return cmd
}

// Judgement is what the judge says of stored runs, as judge --json prints it.
type Judgement struct {
	// Runs are the runs, sorted by file.
	Runs []JudgedRun `json:"runs"`
	// Unread are the files that cannot be judged.
	Unread []UnreadRun `json:"unread"`
	// Equal counts the runs whose labels and facts are as they were stored.
	Equal int `json:"equal"`
	// Changed counts the other runs.
	Changed int `json:"changed"`
	// PlayedAgain counts the runs that were played again.
	PlayedAgain int `json:"played_again"`
	// RecordBytes counts the bytes of all records that were read, as they are stored.
	RecordBytes int `json:"record_bytes"`
}

// JudgedRun is a stored run that was judged anew.
type JudgedRun struct {
	// File is the file of the run or, without one, of its record.
	File string `json:"file"`
	// Name is its name among the runs of its campaign. It is absent for a run with a file of its own.
	Name string `json:"name,omitempty"`
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Seed is the number that decides everything random of the run.
	Seed uint64 `json:"seed"`
	// Equal says whether all labels and facts are as they were stored.
	Equal bool `json:"equal"`
	// PlayedAgain says why the run was played again. It is absent if it was judged by its record.
	PlayedAgain string `json:"played_again,omitempty"`
	// Verdicts are those of its modes that were run.
	Verdicts []records.Verdict `json:"verdicts"`
}

// UnreadRun is a file that cannot be judged.
type UnreadRun struct {
	// File is the file.
	File string `json:"file"`
	// Problem says what is wrong with it.
	Problem string `json:"problem"`
}

func (f judgeFlags) run(s *shell, name string) error {
	stored, err := storedIn(name)
	if err != nil {
		return err
	}
	j, problems := &judging{shell: s, Judgement: Judgement{Runs: []JudgedRun{}, Unread: []UnreadRun{}}}, []error(nil)
	for _, x := range stored {
		err := j.judge(x)
		if _, broken := errors.AsType[*console.BrokenError](err); broken {
			return err
		}
		if err != nil {
			problems = append(problems, err)
			j.Unread = append(j.Unread, UnreadRun{File: filepath.ToSlash(x.Name()), Problem: err.Error()})
		}
	}
	if f.json {
		err = s.PrintJSON(j.Judgement)
	} else {
		err = s.Print(j.print(s.Out))
	}
	switch {
	case err != nil:
		return err
	case len(problems) > 0:
		return errors.Join(problems...)
	case j.Changed > 0:
		return console.ErrUnexpected
	}
	return nil
}

// storedIn are the stored runs that an argument names, with the paths of their files.
func storedIn(name string) ([]runfolder.StoredRun, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the stored runs: %w: give a folder that --out has written, or a file in one", err)
	}
	switch {
	case info.IsDir():
	case strings.HasSuffix(name, records.Suffix):
		return []runfolder.StoredRun{{Records: name}}, nil
	default:
		if err := scenarioInstead(name, "judge takes stored runs, which are JSON"); err != nil {
			return nil, err
		}
		x := runfolder.StoredRun{Run: name}
		if _, err := os.Stat(records.Beside(name)); !errors.Is(err, fs.ErrNotExist) {
			x.Records = records.Beside(name)
		}
		return []runfolder.StoredRun{x}, nil
	}
	found, err := runfolder.StoredRuns(os.DirFS(name))
	if err != nil {
		return nil, fmt.Errorf("cannot read the stored runs in %s: %w: give a folder that can be read", console.Quote(name),
			err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no stored run in %s: give a folder that run --out, or explore --out with a "+
			"violation or --records, has written", console.Quote(name))
	}
	under := func(path string) string {
		if path == "" {
			return ""
		}
		return filepath.Join(name, filepath.FromSlash(path))
	}
	for i, x := range found {
		found[i] = runfolder.StoredRun{Run: under(x.Run), Records: under(x.Records)}
	}
	return found, nil
}

// judging is a judgement that is made.
type judging struct {
	*shell
	Judgement
}

// judge judges what a file has. The error is about the file, or a [*console.BrokenError].
func (j *judging) judge(x runfolder.StoredRun) error {
	var runs []*records.Run
	if x.Records != "" {
		var err error
		if runs, err = j.read(x.Records); err != nil {
			return err
		}
	}
	if x.Run != "" {
		return j.judgeStored(x, runs)
	}
	for _, r := range runs {
		if err := j.byRecord(x.Records, r); err != nil {
			return err
		}
	}
	return nil
}

func (j *judging) read(name string) ([]*records.Run, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the records: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil {
		j.RecordBytes += int(info.Size())
	}
	return records.Read(name, f, j.ServerNames()...)
}

// judgeStored judges a stored run by the record that is beside it or, if that is missing or another run's, by playing
// it again.
func (j *judging) judgeStored(x runfolder.StoredRun, runs []*records.Run) error {
	recording, err := readRecording(x.Run)
	if err != nil {
		return err
	}
	why := "it has no record"
	if x.Records != "" {
		if len(runs) != 1 {
			return damagedRecord(x.Records, fmt.Errorf("it has %s, and is that of one", prose.Count(len(runs), "run")))
		}
		if runs[0].IsOf(recording.run) {
			runs[0].Stored = recording.run
			return j.byRecord(x.Records, runs[0], x.Run)
		}
		why = "its record is that of another run"
	}
	return j.again(recording, why)
}

// byRecord judges a run by its record, in the file of that name. of is the file of the run, if it has one.
func (j *judging) byRecord(name string, r *records.Run, of ...string) error {
	verdicts, err := r.Judge()
	if err != nil {
		return damagedRecord(name, err)
	}
	j.add(append(of, name)[0], r.Name, r.Stored, "", verdicts)
	return nil
}

func damagedRecord(name string, err error) error {
	return &file.InputError{Pos: faults.Pos{File: name}, Err: err,
		Msg: "this record cannot be judged: " + err.Error() + "; make the run again, and store it with this version of " +
			"locksim"}
}

func (j *judging) again(r *recording, why string) error {
	done := j.Busy("playing " + r.name + " again")
	o, err := replay.Run(r.run, j.Extra, outcome.Once)
	done()
	if _, differs := errors.AsType[*outcome.ReplayError](err); err != nil && !differs {
		return r.failed(err, "judge", j.Command()+" judge "+console.Quote(r.name))
	}
	var verdicts []records.Verdict
	for i := range o.Modes {
		m := &o.Modes[i]
		stored := r.run.Modes[m.Mode]
		if stored.Verdict == checker.NotApplicable && m.Verdict.Label == checker.NotApplicable {
			continue
		}
		if stored.TraceHash != m.TraceHash && !strings.Contains(why, anotherCourse) {
			why += anotherCourse
		}
		verdicts = append(verdicts, records.Compare(stored, m))
	}
	j.PlayedAgain++
	j.add(r.name, "", r.run, why, verdicts)
	return nil
}

// anotherCourse is said of a run that is not what it was when it was stored.
const anotherCourse = ", and it takes another course than when it was stored"

func (j *judging) add(name, of string, r *outcome.RunFile, playedAgain string, verdicts []records.Verdict) {
	run := JudgedRun{File: filepath.ToSlash(name), Name: of, Scenario: r.Scenario, Lock: r.Lock, Seed: r.Seed,
		Equal: true, PlayedAgain: playedAgain, Verdicts: verdicts}
	for _, v := range verdicts {
		run.Equal = run.Equal && v.Equal()
	}
	if run.Equal {
		j.Equal++
	} else {
		j.Changed++
	}
	j.Runs = append(j.Runs, run)
}

// print writes a line for each mode of each run, and a summary.
func (j *judging) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range j.Runs {
		name := r.File
		if r.Name != "" {
			name += ": " + r.Name
		}
		for _, v := range r.Verdicts {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", name, r.Lock, v.Mode, v.Stored, said(v, r)) // Flush has the error
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	if len(j.Runs) > 0 {
		b.WriteByte('\n')
	}
	for _, r := range j.Runs {
		if !r.Equal {
			r.explain(&b)
		}
	}
	fmt.Fprintf(&b, "%s judged: %d as stored, %d changed", prose.Count(len(j.Runs), "run"), j.Equal, j.Changed)
	if n := len(j.Unread); n > 0 {
		fmt.Fprintf(&b, "; %s cannot be judged", prose.Count(n, "file"))
	}
	b.WriteString(".\n")
	if j.PlayedAgain > 0 {
		fmt.Fprintf(&b, "Played again: %d. Judged by records: %d.\n", j.PlayedAgain, len(j.Runs)-j.PlayedAgain)
	}
	if n := len(j.Runs) - j.PlayedAgain; n > 0 {
		fmt.Fprintf(&b, "The records have %.1f KB per run.\n", float64(j.RecordBytes)/1000/float64(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// said is today's label beside the stored one.
func said(v records.Verdict, r JudgedRun) string {
	text := "as stored"
	switch {
	case v.Stored != v.Today:
		text = "now " + string(v.Today)
	case !v.Equal():
		text = "as stored, with other facts"
	}
	if r.PlayedAgain != "" {
		text += " (played again)"
	}
	return text
}

// explain says what has changed in a run.
func (r JudgedRun) explain(b *strings.Builder) {
	fmt.Fprintf(b, "%s%s:\n", r.File, strings.TrimSuffix(" "+r.Name, " "))
	if r.PlayedAgain != "" {
		fmt.Fprintf(b, "  it was played again, since %s\n", r.PlayedAgain)
	}
	for _, v := range r.Verdicts {
		if v.Equal() {
			continue
		}
		fmt.Fprintf(b, "  mode %s was %s, and is %s\n", v.Mode, v.Stored, v.Today)
		for _, d := range v.Differences {
			fmt.Fprintf(b, "    %s\n", d)
		}
		for _, reason := range v.Reasons[:min(1, len(v.Reasons))] {
			fmt.Fprintf(b, "    today: %s\n", reason)
		}
	}
	b.WriteByte('\n')
}
