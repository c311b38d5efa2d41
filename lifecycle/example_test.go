package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/lifecycle"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// A driver whose sensor is there at the second attempt only.
func Example() {
	dir, err := os.MkdirTemp("", "tagus")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	d, err := tagus.Join(tagus.WithDir(dir), tagus.WithLogHandler(slog.DiscardHandler))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()

	attempts := 0
	n, err := lifecycle.NewNode(d, "driver", lifecycle.Callbacks{
		Configure: func(context.Context, lifecycle.State) error {
			if attempts++; attempts < 2 {
				return errors.New("the sensor does not answer")
			}
			return nil
		},
		Shutdown: func(_ context.Context, from lifecycle.State) error {
			fmt.Println("shut down from", from)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pub, err := lifecycle.NewPublisher[std_msgs.String](n, "status", qos.Default())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pub.Publish(&std_msgs.String{Data: "too early"}))

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	n.Autostart(lifecycle.Active, lifecycle.Retry{Delay: time.Millisecond})
	fmt.Println(n.WaitFor(ctx, lifecycle.Active))
	fmt.Println(pub.Publish(&std_msgs.String{Data: "in time"}), attempts)
	fmt.Println(n.Configure(ctx))
	n.Close()
	// Output:
	// tagus: publisher /status: publish: the node is not active
	// active <nil>
	// <nil> 2
	// tagus: node /driver: configure: there is no configure from active; there is deactivate [4], shutdown [7] (the node is active)
	// shut down from active
}
