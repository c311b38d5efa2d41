package main

import (
	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
)

func newInterface(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "interface",
		Short: "Look at message, service and action types",
		Long: "Look at message, service and action types: those that come with tagus, those in the folders of --search, and those of the\n" +
			"installations that AMENT_PREFIX_PATH names. Where a type is in several places, the first counts.",
	}
	cmd.AddCommand(newInterfaceList(e), newInterfacePackage(e), newInterfacePackages(e), newInterfaceProto(e), newInterfaceShow(e), newInterfaceHash(e))
	return cmd
}

// kindFlags choose among messages, services and actions.
type kindFlags struct{ msgs, srvs, actions bool }

func (k *kindFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVarP(&k.msgs, "only-msgs", "m", false, "only messages")
	fl.BoolVarP(&k.srvs, "only-srvs", "s", false, "only services")
	fl.BoolVarP(&k.actions, "only-actions", "a", false, "only actions")
}

// kinds are the chosen ones, all if none is.
func (k *kindFlags) kinds() []rosidl.Kind {
	if !k.msgs && !k.srvs && !k.actions {
		return []rosidl.Kind{rosidl.KindMessage, rosidl.KindService, rosidl.KindAction}
	}
	var out []rosidl.Kind
	if k.msgs {
		out = append(out, rosidl.KindMessage)
	}
	if k.srvs {
		out = append(out, rosidl.KindService)
	}
	if k.actions {
		out = append(out, rosidl.KindAction)
	}
	return out
}
