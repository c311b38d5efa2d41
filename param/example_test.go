package param_test

import (
	"context"
	"fmt"

	"github.com/tagus-ros/tagus/param"
)

// A node is the usual owner; a Store can stand for one in tests.
func ExampleDeclare() {
	overrides, err := param.ParseFile("camera.yaml", []byte("/front/camera:\n  ros__parameters:\n    rate: 30\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	node := param.NewStore("/front/camera", param.Options{Overrides: param.Select(overrides, "/front/camera")})

	rate, err := param.Declare(node, "rate", 10.0, param.Descriptor{
		Description:   "images a second",
		FloatingPoint: &param.FloatingPointRange{From: 1, To: 60},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rate.Watch(func(old, new float64) { fmt.Println("from", old, "to", new) })

	fmt.Println(rate.Value())
	fmt.Println(rate.Set(context.Background(), 15))
	fmt.Println(node.Set(context.Background(), "rate", param.Guess("fast")))
	fmt.Println(rate.Set(context.Background(), 100))
	// Output:
	// 30
	// from 30 to 15
	// <nil>
	// tagus: parameter rate of /front/camera: set: want double, given string 'fast'
	// tagus: parameter rate of /front/camera: set: 100.0 is not in the range 1 to 60
}
