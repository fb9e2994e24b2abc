package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// named returns a *FieldError when nobody stands in the field, which is called
// "process", "node" or "clock". The question is what the name answers.
func named(field, name, question, example string) error {
	if name == "" {
		return wrong(field, "no %s is named: say %s, such as %s", field, question, example)
	}
	return nil
}

// longerThanZero returns a *FieldError when d is no length of time. The claim is
// about what lasts: "a pause lasts".
func longerThanZero(field string, d time.Duration, claim, example string) error {
	if d <= 0 {
		return wrong(field, "%v is not a length of time: %s more than 0s, such as %s", d, claim, example)
	}
	return nil
}

// orToTheEnd returns a *FieldError when d, which may be 0, is negative. What
// lasts so long is for the message: "the cut".
func orToTheEnd(field string, d time.Duration, what string) error {
	if d < 0 {
		return wrong(field, "%v is negative: give the length of %s, such as 15s", d, what)
	}
	return nil
}

// whole returns a *FieldError when d is no whole number of units.
func whole(field string, d, unit time.Duration, units string) error {
	if d%unit != 0 {
		return wrong(field, "%v is not a whole number of %s: the toxic counts no finer", d, units)
	}
	return nil
}

// everyOnce returns a *FieldError when a name of the list is empty or stands
// there twice.
func everyOnce(field string, names []string) error {
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", field, i)
		if name == "" {
			return wrong(at, "the process has no name: write one such as c0")
		}
		if slices.Contains(names[:i], name) {
			return wrong(at, "%s is named twice: name each process once", name)
		}
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// length is how long something lasts, as the end of a phrase.
func length(d time.Duration) string {
	if d == 0 {
		return "until the end"
	}
	return fmt.Sprint("for ", d)
}

// orEverything is one side of a network, as part of a phrase.
func orEverything(names []string) string {
	if len(names) == 0 {
		return "everything else"
	}
	return strings.Join(names, ", ")
}

// within1To returns a *FieldError when n is not between 1 and most.
func within1To(field string, n, most int, units string) error {
	if n < 1 || n > most {
		return wrong(field, "%d is out of range: give 1 to %d %s", n, most, units)
	}
	return nil
}
