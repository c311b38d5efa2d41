// Command talker says hello on /chatter ten times a second. It must not import anything but the public packages of tagus.
package main

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

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
	n, err := d.NewNode("talker")
	if err != nil {
		return err
	}
	pub, err := tagus.NewPublisher[std_msgs.String](n, "chatter", qos.Default())
	if err != nil {
		return err
	}
	count := 0
	_, err = n.NewTimer(100*time.Millisecond, func(context.Context, tagus.TimerInfo) {
		count++
		if err := pub.Publish(&std_msgs.String{Data: fmt.Sprintf("hello %d", count)}); err != nil {
			log.Print(err)
		}
	})
	if err != nil {
		return err
	}
	return d.Spin(ctx)
}
