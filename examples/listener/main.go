// Command listener prints what it hears on /chatter. It must not import anything but the public packages of tagus.
package main

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	d, err := tagus.Join()
	if err != nil {
		return err
	}
	defer d.Close()
	n, err := d.NewNode("listener")
	if err != nil {
		return err
	}
	_, err = tagus.NewSubscription(n, "chatter", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.String]) {
		// The message is lent until this function returns. Strings may be kept; slices may not.
		fmt.Printf("heard %q, %v after it was published, by %v\n", s.Msg.Data, s.Info.Latency, s.Info.Path)
	})
	if err != nil {
		return err
	}
	return d.Spin(ctx)
}
