package campaign

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// ContradictionError is returned where two results of one job differ. A job
// depends on the plan alone, so one of the two was made by another version of
// the program or of Go, or a run was not deterministic.
type ContradictionError struct {
	Job int
	// First and Second are the files with the two results.
	First, Second string
	// Field is the first thing that differs, where it is known.
	Field string
}

func (e *ContradictionError) Error() string {
	text := fmt.Sprintf("%s and %s contradict each other about job %d", e.First, e.Second, e.Job)
	if e.Field != "" {
		text += ": " + e.Field
	}
	return text + ": they were made by different versions, or a run was not deterministic"
}

// Union puts together what several records of one plan know. The error is a
// [*PlanError] or a [*ContradictionError].
func Union(records ...*Record) (*Record, error) {
	if len(records) == 0 {
		return nil, errors.New("there is nothing to put together")
	}
	all := *records[0]
	all.Results = maps.Clone(all.Results)
	for _, r := range records[1:] {
		if err := r.samePlan(records[0]); err != nil {
			return nil, err
		}
		for _, job := range slices.Sorted(maps.Keys(r.Results)) {
			if before, ok := all.Results[job]; ok && !reflect.DeepEqual(value(before), value(r.Results[job])) {
				return nil, contradiction(job, records, r)
			}
			all.Results[job] = r.Results[job]
		}
	}
	return &all, nil
}

// contradiction finds out with whom a record disagrees about a job.
func contradiction(job int, records []*Record, second *Record) error {
	for _, r := range records {
		if fields := difference(value(r.Results[job]), value(second.Results[job]), ""); r.Results[job] != nil && len(fields) > 0 {
			return &ContradictionError{Job: job, First: r.Name, Second: second.Name, Field: fields[0]}
		}
	}
	return &ContradictionError{Job: job, First: records[0].Name, Second: second.Name}
}
