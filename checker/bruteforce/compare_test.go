package bruteforce_test

import (
	"fmt"
	"reflect"
	"strings"

	"locksim/checker"
	"locksim/checker/bruteforce"
)

// differences are the facts, and the label, of which the two judges have different
// values: "overdue: checker 1, bruteforce 0".
func differences(h checker.History, none *checker.Facts, v checker.Verdict) []string {
	label, facts := bruteforce.Judge(h, none)
	return append(different(v, label, facts), slackDifferences(h, v)...)
}

// slackDifferences are the kinds of slack of which the two have different values.
func slackDifferences(h checker.History, v checker.Verdict) []string {
	var all []string
	want := bruteforce.Slack(h)
	for _, kind := range checker.SlackKinds() {
		value, known := want[kind]
		if s, has := v.SlackOf(kind); has != known || s.Value != value {
			all = append(all, fmt.Sprintf("slack %s: checker %d (%t), bruteforce %d (%t)", kind, s.Value, has, value, known))
		}
	}
	return all
}

func different(v checker.Verdict, label checker.Label, facts checker.Facts) []string {
	var all []string
	a, b := reflect.ValueOf(v.Facts), reflect.ValueOf(facts)
	for i := range a.NumField() {
		if !a.Field(i).Equal(b.Field(i)) {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			all = append(all, fmt.Sprintf("%s: checker %v, bruteforce %v", name, a.Field(i), b.Field(i)))
		}
	}
	if v.Label != label {
		all = append(all, fmt.Sprintf("label: checker %s, bruteforce %s", v.Label, label))
	}
	return all
}
