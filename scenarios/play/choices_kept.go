package play

// recorder passes choices on and keeps them.
type recorder struct {
	from Choices
	made []int
}

func (r *recorder) Below(n int) int {
	c := r.from.Below(n)
	r.made = append(r.made, c)
	return c
}

// replayed makes choices that were kept once more, as far as they go and fit, and
// then others.
type replayed struct {
	kept []int
	then Choices
}

func (r *replayed) Below(n int) int {
	if len(r.kept) == 0 {
		return r.then.Below(n)
	}
	c := r.kept[0]
	r.kept = r.kept[1:]
	return c % n
}
