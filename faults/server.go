package faults

import "fmt"

// Programs is a world in which a fault can ask the program on a node by itself, for an ability that this kind of
// servers has.
type Programs interface {
	// Program is the server on a node at present. The fault calls felt once it has had an effect. It returns an error
	// when there is no such node.
	Program(node string) (server any, felt func(), err error)
}

// askServer has an action done by the ability of a server that it needs. do returns whether the action had an effect.
func askServer[Ability any](a Action, world any, node string, do func(server Ability) (effect bool, err error)) error {
	return ask(a, world, func(w Programs) error {
		if err := Validate(a); err != nil {
			return err
		}
		server, felt, err := w.Program(node)
		if err != nil {
			return err
		}
		able, ok := server.(Ability)
		if !ok {
			return fmt.Errorf("%w: %s is a server of a kind without this ability", ErrUnable, node)
		}
		effect, err := do(able)
		if effect {
			felt()
		}
		return err
	})
}
