// Package rosargs reads what a command line and the environment say to a ROS 2 program, by rcl's grammar: what stands between --ros-args and
// "--" or the end (remappings, parameters and files of them, log levels, the enclave, switches), ROS_DOMAIN_ID and the variables of
// discovery. It applies the remappings to names. Everything outside is left to the program, in its order. It decides nothing else: which
// parameters a node gets is package param's business, what a log level does that of logging.
//
// Differences to rcl: rules outside --ros-args, which rcl still takes with a warning, are the program's arguments here; an argument inside
// that nobody knows is an error at once, where rcl leaves that to rclcpp and rclpy, which both refuse it; a namespace that no node can have
// is an error here and not only when the node is made. As in rcl, the node before a remapping is a name in any namespace, but the one in
// "-p node:name:=value" is a node in the root namespace.
//
// It imports the rules of names and param, nothing that speaks.
package rosargs

import (
	"fmt"
	"strings"

	"github.com/tagus-ros/tagus/param"
)

// Args is what a command line says.
type Args struct {
	Remaps        Remaps           // in their order
	Overrides     []param.Override // from --param and --params-file, in their order; the later count
	ParamFiles    []string         // read already
	LogLevel      Level            // for all loggers without one of their own; LevelUnset where not given
	LoggerLevels  []LoggerLevel    // one for each logger that was named
	LogConfigFile string
	LogFileName   string
	Enclave       string
	NoStdoutLogs  bool
	NoRosoutLogs  bool
	NoExternalLog bool
	Rest          []string // what is not for ROS, as given and in its order
}

// Level is a log level, numbered as in rcl_interfaces/msg/Log.
type Level uint8

// The log levels.
const (
	LevelUnset Level = 0
	LevelDebug Level = 10
	LevelInfo  Level = 20
	LevelWarn  Level = 30
	LevelError Level = 40
	LevelFatal Level = 50
)

var levels = map[Level]string{LevelUnset: "unset", LevelDebug: "debug", LevelInfo: "info", LevelWarn: "warn", LevelError: "error", LevelFatal: "fatal"}

// String names the level in lower case.
func (l Level) String() string {
	if name, ok := levels[l]; ok {
		return name
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// LoggerLevel is the level of one logger.
type LoggerLevel struct {
	Logger string
	Level  Level
}

// Error says which argument is wrong, and why.
type Error struct {
	Pos  int    // index of the argument in what was given to Parse
	Flag string // the flag that it follows, empty if it stands alone
	Arg  string
	At   int // byte in Arg where the fault is, -1 if there is no such
	Text string
	Err  error // the cause, where a file is at fault
}

func (e *Error) Error() string {
	what := e.Arg
	if e.Flag != "" {
		what = strings.TrimSpace(e.Flag + " " + e.Arg)
	}
	s := fmt.Sprintf("tagus: argument %d, %q: %s", e.Pos, what, e.Text)
	if e.At >= 0 {
		s += fmt.Sprintf(" (at %d of %q)", e.At, e.Arg)
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Parse reads a command line; args usually is os.Args. Parameter files are read from disk. The error is an *Error.
func Parse(args []string) (*Args, error) {
	return parse(args, param.ReadFile)
}

const (
	begin = "--ros-args"
	end   = "--"
)

func parse(args []string, readFile func(string) ([]param.Override, error)) (*Args, error) {
	out := &Args{}
	inside := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == begin:
			inside = true
			continue
		case !inside:
			out.Rest = append(out.Rest, arg)
			continue
		case arg == end:
			inside = false
			continue
		case out.toggle(arg):
			continue
		}
		wants, known := valued[arg]
		switch {
		case !known:
			return nil, &Error{Pos: i, Arg: arg, At: -1, Text: "not a ROS argument; those of the program stand before --ros-args or after --"}
		case i+1 == len(args):
			return nil, &Error{Pos: i, Flag: arg, At: -1, Text: "must be followed by " + wants}
		}
		i++
		if err := out.take(arg, args[i], i, readFile); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// valued are the flags that a value follows, and what that is.
var valued = map[string]string{
	"-r": remapForm, "--remap": remapForm, "-p": paramForm, "--param": paramForm, "--params-file": "the path of a parameter file",
	"--log-level": "a level, or logger:=level", "--log-config-file": "the path of a file", "--log-file-name": "the beginning of a file's name",
	"-e": "the path of an enclave", "--enclave": "the path of an enclave",
}

const (
	remapForm = "a rule like from:=to, node:from:=to, __node:=name or __ns:=/namespace"
	paramForm = "an assignment like name:=value or node:name:=value"
)

// take does what a flag with a value says.
func (a *Args) take(flag, value string, pos int, readFile func(string) ([]param.Override, error)) error {
	var wrong *ruleError
	switch flag {
	case "-r", "--remap":
		var r Remap
		if r, wrong = parseRemap(value); wrong == nil {
			a.Remaps = append(a.Remaps, r)
		}
	case "-p", "--param":
		var o param.Override
		if o, wrong = parseParameter(value); wrong == nil {
			o.Source = fmt.Sprintf("argument %d, %q", pos, flag+" "+value)
			a.Overrides = append(a.Overrides, o)
		}
	case "--params-file":
		overrides, err := readFile(value)
		if err != nil {
			return &Error{Pos: pos, Flag: flag, Arg: value, At: -1, Text: strings.TrimPrefix(err.Error(), "tagus: "), Err: err}
		}
		a.Overrides = append(a.Overrides, overrides...)
		a.ParamFiles = append(a.ParamFiles, value)
	case "--log-level":
		var l LoggerLevel
		if l, wrong = parseLogLevel(value); wrong == nil {
			a.level(l)
		}
	case "--log-config-file":
		a.LogConfigFile = value
	case "--log-file-name":
		a.LogFileName = value
	case "-e", "--enclave":
		a.Enclave = value
	}
	if wrong != nil {
		return &Error{Pos: pos, Flag: flag, Arg: value, At: wrong.pos, Text: wrong.text}
	}
	return nil
}

func (a *Args) level(l LoggerLevel) {
	if l.Logger == "" {
		a.LogLevel = l.Level
		return
	}
	for i := range a.LoggerLevels {
		if a.LoggerLevels[i].Logger == l.Logger {
			a.LoggerLevels[i] = l
			return
		}
	}
	a.LoggerLevels = append(a.LoggerLevels, l)
}

// toggle does what --enable-… and --disable-… say.
func (a *Args) toggle(arg string) bool {
	what, off := strings.CutPrefix(arg, "--disable-")
	if !off {
		var on bool
		if what, on = strings.CutPrefix(arg, "--enable-"); !on {
			return false
		}
	}
	switch what {
	case "stdout-logs":
		a.NoStdoutLogs = off
	case "rosout-logs":
		a.NoRosoutLogs = off
	case "external-lib-logs":
		a.NoExternalLog = off
	default:
		return false
	}
	return true
}
