package shrink

import (
	"reflect"
	"slices"

	"locksim/faults"
)

// An action is a struct of few sorts of fields, which mean the same wherever
// they stand: names, lists of names, words of a choice, numbers and lengths of
// time. The minimizer changes them by their sort, for every kind of action.

// fieldsOf are the names of the fields of an action that have a type.
func fieldsOf[T any](action faults.Action) []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(action)) {
		if field.Type == reflect.TypeFor[T]() {
			names = append(names, field.Name)
		}
	}
	return names
}

// choicesOf are the fields that hold a word of a choice, the empty word being
// the default.
func choicesOf(action faults.Action) []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(action)) {
		if field.Type.Kind() == reflect.String && field.Type != reflect.TypeFor[string]() {
			names = append(names, field.Name)
		}
	}
	return names
}

// fieldOf is the value of a field.
func fieldOf[T any](action faults.Action, name string) T {
	return reflect.ValueOf(action).FieldByName(name).Interface().(T)
}

// withField is the action with another value in a field. A string becomes a
// word of the field's type.
func withField(action faults.Action, name string, v any) faults.Action {
	changed := reflect.New(reflect.TypeOf(action)).Elem()
	changed.Set(reflect.ValueOf(action))
	field := changed.FieldByName(name)
	field.Set(reflect.ValueOf(v).Convert(field.Type()))
	return changed.Interface().(faults.Action)
}

// namesIn are whom a fault names: who sets it off, and whom it strikes.
func namesIn(f faults.Fault) []string {
	var names []string
	if f.When != nil {
		names = append(names, f.When.Client)
	}
	for _, field := range fieldsOf[string](f.Action) {
		names = append(names, fieldOf[string](f.Action, field))
	}
	for _, field := range fieldsOf[[]string](f.Action) {
		names = append(names, fieldOf[[]string](f.Action, field)...)
	}
	return names
}

// inOrder are names in the order in which faults name them, and behind them
// those that none does.
func inOrder(schedule []faults.Fault, names []string) []string {
	var named, out []string
	for _, f := range schedule {
		named = append(named, namesIn(f)...)
	}
	for _, name := range append(named, names...) {
		if slices.Contains(names, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// renamed is a fault with other names for all that it names. A name that has
// become empty is taken off the lists; ok is false where the fault is left
// without somebody that it needs.
func renamed(f faults.Fault, rename func(string) string) (_ faults.Fault, ok bool) {
	lost := false
	if f.When != nil {
		event := *f.When
		event.Client = rename(event.Client)
		f.When = &event
		lost = event.Client == ""
	}
	for _, field := range fieldsOf[string](f.Action) {
		old := fieldOf[string](f.Action, field)
		lost = lost || old != "" && rename(old) == ""
		f.Action = withField(f.Action, field, rename(old))
	}
	for _, field := range fieldsOf[[]string](f.Action) {
		old := fieldOf[[]string](f.Action, field)
		now := renamedList(old, rename)
		lost = lost || len(old) > 0 && len(now) == 0
		f.Action = withField(f.Action, field, now)
	}
	return f, !lost
}

func renamedList(names []string, rename func(string) string) []string {
	var out []string
	for _, name := range names {
		if now := rename(name); now != "" {
			out = append(out, now)
		}
	}
	slices.Sort(out)
	return out
}
