package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// demoFlags are the arguments of "demo" and of its two processes.
type demoFlags struct {
	seconds       float64
	rate          float64
	width, height int
	domain        int
	json          bool
}

func newDemo(e env) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "A camera process sends images to a viewer process, which checks every byte",
		Long: "A camera process sends images with a moving pattern by loan, a viewer process checks every byte of each in place. A table\n" +
			"shows what arrives and how fast; -t or an interrupt ends it with a summary.",
		Args: cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return usage{err}
			}
			return runDemo(cmd.Context(), e, &f)
		}),
	}
	f.add(cmd)
	cmd.Flags().Float64VarP(&f.seconds, "time", "t", 0, "end after that many seconds; 0: when interrupted")
	cmd.Flags().BoolVar(&f.json, "json", false, "print only the summary, as JSON")
	cmd.AddCommand(newDemoRole(e, "camera", runCamera), newDemoRole(e, "viewer", runViewer))
	return cmd
}

func (f *demoFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.rate, "rate", 30, "images a second")
	fl.IntVar(&f.width, "width", 1280, "pixels in a row")
	fl.IntVar(&f.height, "height", 720, "rows")
	fl.IntVar(&f.domain, "domain", -1, "ROS domain; -1: ROS_DOMAIN_ID decides")
}

func (f *demoFlags) check() error {
	switch {
	case f.seconds < 0:
		return fmt.Errorf("--time is %v s, want 0 or more", f.seconds)
	case f.rate < 0.1 || f.rate > 10_000:
		return fmt.Errorf("--rate is %v Hz, want 0.1 to 10000", f.rate)
	case f.width < 1 || f.height < 1 || f.width > 1<<15 || f.height > 1<<15:
		return fmt.Errorf("an image of %d × %d pixels: want 1 to %d each", f.width, f.height, 1<<15)
	case f.domain < -1 || f.domain > 232:
		return fmt.Errorf("--domain is %d, want 0 to 232", f.domain)
	}
	return nil
}

// args gives the flags to one of the two processes.
func (f *demoFlags) args(role string) []string {
	return []string{"demo", role, "--rate", strconv.FormatFloat(f.rate, 'g', -1, 64), "--width", strconv.Itoa(f.width), "--height", strconv.Itoa(f.height),
		"--domain", strconv.Itoa(f.domain)}
}

// cameraLine is what the camera process says once a second and at its end. Counts are since its start.
type cameraLine struct {
	Sent   uint64 `json:"sent"`
	Failed uint64 `json:"failed"`
	Error  string `json:"error"`  // of the first publication that failed
	Faults int64  `json:"faults"` // in the last second; at the end of all but the first
	Copied uint64 `json:"copied"` // payload bytes
	Done   bool   `json:"done"`
}

// viewerLine is what the viewer process says once a second and at its end. Times are microseconds.
type viewerLine struct {
	Received uint64  `json:"received"`
	Dropped  uint64  `json:"dropped"`
	Damaged  uint64  `json:"damaged"`
	Rate     float64 `json:"rate_hz"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
	Max      float64 `json:"max_us"`
	Jitter   float64 `json:"jitter_us"` // standard deviation of the gaps between images
	Faults   int64   `json:"faults"`    // in the last second; at the end of all but the first
	Path     string  `json:"path"`
	Done     bool    `json:"done"`
}

// demoSummary is what "demo --json" prints.
type demoSummary struct {
	Seconds      float64 `json:"duration_s"`
	ImageBytes   int     `json:"image_bytes"`
	Sent         uint64  `json:"sent"`
	Received     uint64  `json:"received"`
	Dropped      uint64  `json:"dropped"`
	Damaged      uint64  `json:"damaged"`
	Rate         float64 `json:"rate_hz"`
	P50          float64 `json:"p50_us"`
	P99          float64 `json:"p99_us"`
	Max          float64 `json:"max_us"`
	Jitter       float64 `json:"jitter_us"`
	CameraFaults int64   `json:"camera_faults"` // after the first second
	ViewerFaults int64   `json:"viewer_faults"`
	Copied       uint64  `json:"payload_bytes_copied"`
	Path         string  `json:"path"`
}

// role is one of the demo's processes.
type role struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte // closed at the end of its output
}

func startRole(e env, f *demoFlags, name string) (*role, error) {
	r := &role{name: name, cmd: e.self(f.args(name)...), lines: make(chan []byte, 16)}
	r.cmd.Stderr = e.err
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the %s process: %w", name, err)
	}
	go func() {
		defer close(r.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			r.lines <- []byte(s.Text())
		}
	}()
	return r, nil
}

// died waits for a process whose output has ended and says why.
func (r *role) died() error {
	err := r.cmd.Wait()
	if err == nil {
		err = errors.New("it ended by itself")
	}
	return fmt.Errorf("the %s process: %w", r.name, err)
}

// finish tells the process to end and returns its last line.
func (r *role) finish() (last []byte, err error) {
	r.in.Close()
	limit := time.NewTimer(5 * time.Second)
	defer limit.Stop()
	for {
		select {
		case l, ok := <-r.lines:
			if !ok {
				if err := r.cmd.Wait(); err != nil {
					return nil, fmt.Errorf("the %s process: %w", r.name, err)
				}
				return last, nil
			}
			last = l
		case <-limit.C:
			return nil, fmt.Errorf("the %s process does not end", r.name)
		}
	}
}

func (r *role) kill() {
	if r != nil && r.cmd.ProcessState == nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	}
}

func runDemo(ctx context.Context, e env, f *demoFlags) (err error) {
	if f.seconds > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(f.seconds*float64(time.Second)))
		defer stop()
	}
	start := e.now()
	viewer, err := startRole(e, f, "viewer")
	if err != nil {
		return err
	}
	defer viewer.kill()
	camera, err := startRole(e, f, "camera")
	if err != nil {
		return err
	}
	defer camera.kill()
	if !f.json {
		fmt.Fprintf(e.out, "camera %d and viewer %d: %d × %d rgb8, %.1f MB at %g Hz on /camera/image_raw; every byte is checked\n",
			camera.cmd.Process.Pid, viewer.cmd.Process.Pid, f.width, f.height, float64(f.bytes())/1e6, f.rate)
	}
	sum := demoSummary{ImageBytes: f.bytes()}
	var cam cameraLine
	for shown, ended := 0, false; !ended; {
		select {
		case l, ok := <-camera.lines:
			if !ok {
				return camera.died()
			}
			if err := json.Unmarshal(l, &cam); err != nil {
				return fmt.Errorf("the camera process said %q: %w", l, err)
			}
		case l, ok := <-viewer.lines:
			if !ok {
				return viewer.died()
			}
			var v viewerLine
			if err := json.Unmarshal(l, &v); err != nil {
				return fmt.Errorf("the viewer process said %q: %w", l, err)
			}
			if !f.json {
				showDemo(e.out, shown, e.now().Sub(start), &v, &cam)
			}
			shown++
		case <-ctx.Done():
			ended = true
		}
	}
	sum.Seconds = e.now().Sub(start).Seconds()
	return endDemo(e, f, camera, viewer, &sum)
}

func (f *demoFlags) bytes() int { return f.width * f.height * 3 }

// showDemo prints one line of the live table, with a head now and then.
func showDemo(w io.Writer, n int, at time.Duration, v *viewerLine, c *cameraLine) {
	if n%20 == 0 {
		fmt.Fprintln(w, "   time   frames       rate        p50        p99     jitter  dropped  damaged  faults camera+viewer  path")
	}
	path := v.Path
	if path == "" {
		path = "-"
	}
	fmt.Fprintf(w, "%5.0f s %8d %7.2f Hz %7.1f µs %7.1f µs %7.1f µs %8d %8d %14d + %-4d  %s\n",
		at.Seconds(), v.Received, v.Rate, v.P50, v.P99, v.Jitter, v.Dropped, v.Damaged, c.Faults, v.Faults, path)
}

// endDemo ends the camera, then the viewer, and prints the summary.
func endDemo(e env, f *demoFlags, camera, viewer *role, sum *demoSummary) error {
	last, err := camera.finish()
	if err != nil {
		return err
	}
	var cam cameraLine
	if err := json.Unmarshal(last, &cam); err != nil {
		return fmt.Errorf("the camera process said %q: %w", last, err)
	}
	if last, err = viewer.finish(); err != nil {
		return err
	}
	var v viewerLine
	if err := json.Unmarshal(last, &v); err != nil {
		return fmt.Errorf("the viewer process said %q: %w", last, err)
	}
	sum.Sent, sum.Copied, sum.CameraFaults = cam.Sent, cam.Copied, cam.Faults
	sum.Received, sum.Dropped, sum.Damaged = v.Received, v.Dropped, v.Damaged
	sum.Rate, sum.P50, sum.P99, sum.Max, sum.Jitter, sum.ViewerFaults, sum.Path = v.Rate, v.P50, v.P99, v.Max, v.Jitter, v.Faults, v.Path
	if f.json {
		if err := printJSON(e, sum); err != nil {
			return err
		}
	} else {
		fmt.Fprint(e.out, summaryText(sum))
	}
	switch {
	case cam.Failed > 0:
		return fmt.Errorf("%d publications failed, the first with: %s", cam.Failed, cam.Error)
	case v.Damaged > 0:
		return fmt.Errorf("%d images were damaged", v.Damaged)
	case v.Received == 0:
		return errors.New("no image arrived")
	}
	return nil
}

func summaryText(s *demoSummary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%.1f s: %d images sent, %d received, %d dropped, %d damaged\n", s.Seconds, s.Sent, s.Received, s.Dropped, s.Damaged)
	fmt.Fprintf(&b, "rate %.2f Hz, jitter %.1f µs\n", s.Rate, s.Jitter)
	fmt.Fprintf(&b, "latency from the start of publish to the callback: p50 %.1f µs, p99 %.1f µs, max %.1f µs\n", s.P50, s.P99, s.Max)
	fmt.Fprintf(&b, "page faults after the first second: camera %d, viewer %d; payload bytes copied: %d; path %s\n", s.CameraFaults, s.ViewerFaults, s.Copied, s.Path)
	return b.String()
}
