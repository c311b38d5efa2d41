package lifecycle

import (
	"context"

	"github.com/tagus-ros/tagus"
	msg "github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
)

func (s State) message() msg.State { return msg.State{ID: uint8(s), Label: s.String()} }

func (e Edge) message() msg.Transition {
	return msg.Transition{ID: uint8(e.Transition), Label: e.Label}
}

func (e Edge) description() msg.TransitionDescription {
	return msg.TransitionDescription{Transition: e.message(), StartState: e.Start.message(), GoalState: e.Goal.message()}
}

func describe(edges []Edge) *msg.GetAvailableTransitionsResponse {
	resp := &msg.GetAvailableTransitionsResponse{}
	for _, e := range edges {
		resp.AvailableTransitions = append(resp.AvailableTransitions, e.description())
	}
	return resp
}

// serve makes the services. All but change_state answer at once.
func (n *Node) serve() error {
	type (
		changeRequest = tagus.Request[msg.ChangeStateRequest, msg.ChangeStateResponse]
		transitions   = func(context.Context, *msg.GetAvailableTransitionsRequest) (*msg.GetAvailableTransitionsResponse, error)
	)
	getState := func(context.Context, *msg.GetStateRequest) (*msg.GetStateResponse, error) {
		return &msg.GetStateResponse{CurrentState: n.State().message()}, nil
	}
	getStates := func(context.Context, *msg.GetAvailableStatesRequest) (*msg.GetAvailableStatesResponse, error) {
		resp := &msg.GetAvailableStatesResponse{}
		for _, x := range states {
			resp.AvailableStates = append(resp.AvailableStates, x.state.message())
		}
		return resp, nil
	}
	available := func(context.Context, *msg.GetAvailableTransitionsRequest) (*msg.GetAvailableTransitionsResponse, error) {
		return describe(n.State().Edges()), nil
	}
	graph := func(context.Context, *msg.GetAvailableTransitionsRequest) (*msg.GetAvailableTransitionsResponse, error) {
		return describe(edges), nil
	}

	_, err := tagus.NewDeferredService[msg.ChangeState](n.Node, "~/change_state", func(_ context.Context, r *changeRequest) { n.serveChange(r.Msg, r.Respond) })
	if err != nil {
		return err
	}
	if _, err = tagus.NewService[msg.GetState](n.Node, "~/get_state", getState); err != nil {
		return err
	}
	if _, err = tagus.NewService[msg.GetAvailableStates](n.Node, "~/get_available_states", getStates); err != nil {
		return err
	}
	for name, fn := range map[string]transitions{"~/get_available_transitions": available, "~/get_transition_graph": graph} {
		if _, err = tagus.NewService[msg.GetAvailableTransitions](n.Node, name, fn); err != nil {
			return err
		}
	}
	return nil
}

// serveChange makes the first step of the transition that is asked for, so that get_state tells of it from now on, and leaves the rest to a
// goroutine. The answer of ROS 2 has no room for a reason: that goes to the log.
func (n *Node) serveChange(req *msg.ChangeStateRequest, respond func(*msg.ChangeStateResponse) error) {
	// A client that is gone does not matter: the change is made, or was refused.
	answer := func(ok bool) { _ = respond(&msg.ChangeStateResponse{Success: ok}) }
	e, err := n.begin(func(s State) (Edge, error) {
		e, ok := requested(s, &req.Transition)
		if !ok {
			return e, &UnavailableError{s, wanted(&req.Transition)}
		}
		return e, nil
	})
	if err != nil {
		n.refusals.Warn("a change of state that a service client asked for is refused", "transition", wanted(&req.Transition), "err", err)
		answer(false)
		return
	}
	n.work.Add(1)
	go func() {
		defer n.work.Done()
		err := error(errExited)
		defer func() {
			if err != nil {
				n.Logger().Warn("a change of state that a service client asked for failed", "err", err)
			}
			answer(err == nil)
		}()
		err = n.run(n.ctx, n.ctx, e)
	}()
}

// requested finds the transition that a message names: by its label if there is one, since those who give a label often leave the number 0,
// else by its number.
func requested(s State, m *msg.Transition) (Edge, bool) {
	if m.Label != "" {
		return s.EdgeLabelled(m.Label)
	}
	return s.Edge(Transition(m.ID))
}

// wanted is how the message names it.
func wanted(m *msg.Transition) string {
	if m.Label != "" {
		return m.Label
	}
	return Transition(m.ID).String()
}
