package action_test

import "testing"

// One goal after another: sent, fed back once, its result received.
func BenchmarkGoal(b *testing.B) {
	for _, s := range setups {
		b.Run(s.name, func(b *testing.B) {
			sd, cd := s.make(b)
			serve(b, sd, handlers{Execute: fibonacci})
			c := connect(b, cd)
			ctx := within(b, patience*10)
			b.ReportAllocs()
			for b.Loop() {
				g, err := c.SendGoal(ctx, &goal{Order: 2})
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := g.Result(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
