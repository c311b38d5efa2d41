package tagus

import (
	"context"
	"errors"

	"github.com/tagus-ros/tagus/internal/roslog"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/qos"
)

// rosout publishes what a node logs on /rosout. The last thousand messages of the last ten
// seconds are kept for those who listen later.
type rosout struct{ pub *Publisher[rcl.Log] }

// newRosout makes it, unless the command line says that there is to be none.
func newRosout(n *Node) (*rosout, error) {
	if n.d.args.NoRosoutLogs {
		return nil, nil
	}
	pub, err := NewPublisher[rcl.Log](n, "/rosout", qos.Rosout())
	if err != nil {
		return nil, err
	}
	return &rosout{pub}, nil
}

// publish never waits. A message that cannot be published is in the publisher's counts:
// logging that would come back here.
func (r *rosout) publish(l *roslog.Line) {
	m := r.pub.New()
	m.Stamp, m.Level = stamp(l.Time), uint8(l.Level)
	m.Name, m.Msg = l.Logger, l.Message
	m.File, m.Function, m.Line = l.File, l.Function, uint32(l.Line)
	_ = r.pub.PublishOwned(m)
}

// WithLoggerServices gives the node the services ~/get_logger_levels and
// ~/set_logger_levels, by which others ask for and set the log levels of all loggers of
// the process.
func WithLoggerServices() NodeOption { return func(c *nodeConfig) { c.loggers = true } }

func (n *Node) serveLoggers() error {
	return errors.Join(
		serve[rcl.GetLoggerLevels](n, "get_logger_levels", n.getLoggerLevels),
		serve[rcl.SetLoggerLevels](n, "set_logger_levels", n.setLoggerLevels),
	)
}

func (n *Node) getLoggerLevels(_ context.Context, req *rcl.GetLoggerLevelsRequest) (*rcl.GetLoggerLevelsResponse, error) {
	resp := &rcl.GetLoggerLevelsResponse{Levels: make([]rcl.LoggerLevel, len(req.Names))}
	for i, name := range req.Names {
		resp.Levels[i] = rcl.LoggerLevel{Name: name, Level: uint32(n.d.logs.levels.Own(name))}
	}
	return resp, nil
}

func (n *Node) setLoggerLevels(_ context.Context, req *rcl.SetLoggerLevelsRequest) (*rcl.SetLoggerLevelsResponse, error) {
	resp := &rcl.SetLoggerLevelsResponse{Results: make([]rcl.SetLoggerLevelsResult, len(req.Levels))}
	for i, l := range req.Levels {
		// What does not fit is no level either.
		if err := n.d.logs.levels.Set(l.Name, roslog.Level(min(l.Level, 255))); err != nil {
			resp.Results[i].Reason = err.Error()
			continue
		}
		resp.Results[i].Successful = true
	}
	return resp, nil
}
