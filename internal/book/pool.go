package book

import (
	"errors"
	"slices"
	"sync"
)

// Do does jobs, some at a time. One that fails does not stop the others. The error joins all in the order of the jobs,
// and has an error of which several failed once.
func Do(workers int, jobs []func() error) error {
	todo, failed := make(chan int), make([]error, len(jobs))
	var all sync.WaitGroup
	for range min(max(workers, 1), len(jobs)) {
		all.Go(func() {
			for i := range todo {
				failed[i] = jobs[i]()
			}
		})
	}
	for i := range jobs {
		todo <- i
	}
	close(todo)
	all.Wait()
	var out []error
	for _, err := range failed {
		if err != nil && !slices.ContainsFunc(out, func(other error) bool { return other.Error() == err.Error() }) {
			out = append(out, err)
		}
	}
	return errors.Join(out...)
}
