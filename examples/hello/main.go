// Command hello talks and listens on /chatter. Started twice, the two hear each other as well. It must not import anything but the public
// packages of tagus.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	d := must(tagus.Join()) // ROS_DOMAIN_ID says where
	defer d.Close()
	n := must(d.NewNode("hello"))
	pub := must(tagus.NewPublisher[std_msgs.String](n, "chatter", qos.Default()))
	must(tagus.NewSubscription(n, "chatter", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.String]) {
		fmt.Printf("%s (%v, by %v)\n", s.Msg.Data, s.Info.Latency, s.Info.Path) // s.Msg is lent until this returns
	}))
	hello := std_msgs.String{Data: fmt.Sprint("hello from ", os.Getpid())}
	must(n.NewTimer(time.Second, func(context.Context, tagus.TimerInfo) {
		if err := pub.Publish(&hello); err != nil {
			log.Print(err)
		}
	}))
	if err := d.Spin(ctx); err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
