package faults

// With is a world that has the abilities of two others, those of own first: for a
// world that does one thing in another way.
func With(world, own any) any { return layered{world, own} }

// layered is two worlds, one over the other.
type layered struct{ world, own any }

// abilityOf finds an ability of a world, or of the layers that it is made of.
func abilityOf[Ability any](world any) (Ability, bool) {
	if l, ok := world.(layered); ok {
		if a, ok := abilityOf[Ability](l.own); ok {
			return a, true
		}
		return abilityOf[Ability](l.world)
	}
	a, ok := world.(Ability)
	return a, ok
}
