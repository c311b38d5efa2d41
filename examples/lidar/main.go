// Command lidar is both ends of a lidar driver: it publishes point clouds of 8 MB, and with -read it hears them and tells how regularly
// they come.
//
//	lidar -how copy      # Publish: the cloud stays the driver's and is encoded
//	lidar -how owned     # PublishOwned: the cloud is given away
//	lidar -how loan      # Loan: the cloud is written where its readers read it
//	lidar -read -n 100   # in another terminal: median and median absolute deviation of 100 clouds
//
// It must not import anything but the public packages of tagus.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	"github.com/tagus-ros/tagus/qos"
)

const (
	pointBytes = 16 // x, y, z, intensity as float32
	points     = 500_000
)

func main() {
	how := flag.String("how", "loan", "copy, owned or loan")
	rate := flag.Float64("rate", 10, "clouds a second")
	read := flag.Bool("read", false, "hear clouds instead of publishing them")
	n := flag.Int("n", 100, "how many clouds to hear")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	d, err := tagus.Join()
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	if *read {
		err = hear(ctx, d, *n)
	} else {
		err = drive(ctx, d, *how, *rate)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// drive publishes clouds in one of three ways.
func drive(ctx context.Context, d *tagus.Domain, how string, rate float64) error {
	node, err := d.NewNode("lidar")
	if err != nil {
		return err
	}
	pub, err := tagus.NewPublisher[sensor_msgs.PointCloud2](node, "points", qos.SensorData())
	if err != nil {
		return err
	}
	mine := &sensor_msgs.PointCloud2{Data: make([]byte, points*pointBytes)}
	describe(mine)
	var publish func(scan int) error
	switch how {
	case "copy":
		publish = func(scan int) error {
			measure(mine, scan)
			return pub.Publish(mine)
		}
	case "owned":
		publish = func(scan int) error {
			cloud := pub.New() // one that its last reader is done with, mostly
			describe(cloud)
			cloud.Data = slices.Grow(cloud.Data, points*pointBytes)[:points*pointBytes]
			measure(cloud, scan)
			return pub.PublishOwned(cloud)
		}
	case "loan":
		publish = func(scan int) error {
			l, err := pub.Loan(mine) // mine says how long everything is
			if err != nil {
				return err
			}
			measure(l.Msg(), scan)
			return l.Publish()
		}
	default:
		return fmt.Errorf("-how is %q, want copy, owned or loan", how)
	}
	scan := 0
	_, err = node.NewTimer(time.Duration(float64(time.Second)/rate), func(context.Context, tagus.TimerInfo) {
		scan++
		if err := publish(scan); err != nil {
			log.Print(err)
		}
	})
	if err != nil {
		return err
	}
	return d.Spin(ctx)
}

// describe sets everything but the points.
func describe(c *sensor_msgs.PointCloud2) {
	c.Header.FrameID = "lidar"
	c.Height, c.Width, c.PointStep, c.RowStep = 1, points, pointBytes, points*pointBytes
	c.IsDense = true
	c.Fields = c.Fields[:0]
	for i, name := range []string{"x", "y", "z", "intensity"} {
		c.Fields = append(c.Fields, sensor_msgs.PointField{Name: name, Offset: uint32(4 * i), Datatype: sensor_msgs.PointFieldFloat32, Count: 1})
	}
}

// measure stands for the sensor: it writes all points and the time.
func measure(c *sensor_msgs.PointCloud2, scan int) {
	for i := range c.Data {
		c.Data[i] = byte(scan)
	}
	now := time.Now()
	c.Header.Stamp.Sec, c.Header.Stamp.Nanosec = int32(now.Unix()), uint32(now.Nanosecond())
}

// hear takes n clouds and tells about their latency and regularity.
func hear(ctx context.Context, d *tagus.Domain, n int) error {
	node, err := d.NewNode("listener")
	if err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	var latency, gaps []time.Duration
	var last time.Time
	_, err = tagus.NewSubscription(node, "points", qos.SensorData(), func(_ context.Context, s *tagus.Sample[sensor_msgs.PointCloud2]) {
		latency = append(latency, s.Info.Latency)
		if !last.IsZero() {
			gaps = append(gaps, s.Info.ReceivedTime.Sub(last))
		}
		last = s.Info.ReceivedTime
		if len(latency) == n {
			done()
		}
	})
	if err != nil {
		return err
	}
	if err := d.Spin(ctx); err != nil {
		return err
	}
	median, mad := middle(latency)
	fmt.Printf("%d clouds; publish to callback: median %v, median absolute deviation %v\n", len(latency), median, mad)
	median, mad = middle(gaps)
	fmt.Printf("gaps between them: median %v, median absolute deviation %v\n", median, mad)
	return nil
}

// middle returns the median and the median absolute deviation.
func middle(x []time.Duration) (median, mad time.Duration) {
	if len(x) == 0 {
		return 0, 0
	}
	slices.Sort(x)
	median = x[len(x)/2]
	away := make([]time.Duration, len(x))
	for i, v := range x {
		away[i] = (v - median).Abs()
	}
	slices.Sort(away)
	return median, away[len(away)/2]
}
