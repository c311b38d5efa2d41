package param

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// rules say which value a text without quotes is.
type rules func(text string) Value

// rclScalar follows rcl's reader of parameter files: the truth words of YAML 1.1 with y and n, integers as C reads them in any base (010 is
// eight), doubles as C reads them (inf and nan without a dot too). An integer that needs more than 64 bits becomes a double.
func rclScalar(text string) Value {
	switch text {
	case "Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return boolValue(true)
	case "N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return boolValue(false)
	case ".nan", ".NaN", ".NAN":
		return doubleValue(math.NaN())
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return doubleValue(math.Inf(1))
	case "-.inf", "-.Inf", "-.INF":
		return doubleValue(math.Inf(-1))
	case "null", "Null", "NULL", "~":
		return Value{}
	}
	if n, ok := cInteger(text); ok {
		return intValue(n)
	}
	if f, ok := cDouble(text); ok {
		return doubleValue(f)
	}
	return textValue(text)
}

// cInteger reads all of a text as strtoll does with base 0.
func cInteger(text string) (int64, bool) {
	digits, base := strings.TrimLeft(text, "+-"), 10
	if len(text)-len(digits) > 1 {
		return 0, false
	}
	sign := text[:len(text)-len(digits)]
	switch {
	case len(digits) > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'):
		digits, base = digits[2:], 16
	case len(digits) > 1 && digits[0] == '0':
		digits, base = digits[1:], 8
	}
	if strings.ContainsAny(digits, "+-") {
		return 0, false
	}
	n, err := strconv.ParseInt(sign+digits, base, 64)
	return n, err == nil
}

// cDouble reads all of a text as strtod does.
func cDouble(text string) (float64, bool) {
	if strings.Contains(text, "_") { // Go allows them between digits
		return 0, false
	}
	if lower := strings.ToLower(text); strings.Contains(lower, "0x") && !strings.Contains(lower, "p") {
		text += "p0" // C does without the exponent
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// The forms of numbers in YAML 1.1 as Python's reader has them. They differ from the specification: an exponent needs a dot before it and a
// sign in it.
var pythonForms = sync.OnceValue(func() [2]*regexp.Regexp {
	return [2]*regexp.Regexp{
		regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`),
		regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$`),
	}
})

// timeForm is that of dates and times.
var timeForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$`)
})

// pythonScalar follows Python's YAML 1.1 reader, which "ros2 param set" uses. Dates and other things that are no parameter stay text.
func pythonScalar(text string) Value {
	switch text {
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return boolValue(true)
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return boolValue(false)
	case ".nan", ".NaN", ".NAN":
		return doubleValue(math.NaN())
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return doubleValue(math.Inf(1))
	case "-.inf", "-.Inf", "-.INF":
		return doubleValue(math.Inf(-1))
	case "null", "Null", "NULL", "~", "":
		return Value{}
	}
	if !strings.ContainsAny(text[:1], "+-.0123456789") {
		return textValue(text)
	}
	forms := pythonForms()
	if forms[1].MatchString(text) {
		if f, err := pythonFloat(strings.ReplaceAll(text, "_", "")); err == nil {
			return doubleValue(f)
		}
	} else if forms[0].MatchString(text) {
		if n, err := pythonInt(strings.ReplaceAll(text, "_", "")); err == nil {
			return intValue(n)
		}
	}
	return textValue(text)
}

func pythonInt(text string) (int64, error) {
	sign, digits := cutSign(text)
	switch {
	case strings.HasPrefix(digits, "0b"):
		return strconv.ParseInt(sign+digits[2:], 2, 64)
	case strings.HasPrefix(digits, "0x"):
		return strconv.ParseInt(sign+digits[2:], 16, 64)
	case len(digits) > 1 && digits[0] == '0':
		return strconv.ParseInt(sign+digits, 8, 64)
	case strings.Contains(digits, ":"): // 1:30 is ninety
		f, err := sexagesimal(digits)
		if sign == "-" {
			f = -f
		}
		if err != nil || math.Abs(f) >= 1<<53 {
			return 0, errors.Join(err, strconv.ErrRange)
		}
		return int64(f), nil
	}
	return strconv.ParseInt(sign+digits, 10, 64)
}

func pythonFloat(text string) (float64, error) {
	sign, digits := cutSign(text)
	if !strings.Contains(digits, ":") {
		return strconv.ParseFloat(sign+digits, 64)
	}
	f, err := sexagesimal(digits)
	if sign == "-" {
		f = -f
	}
	return f, err
}

func sexagesimal(text string) (f float64, err error) {
	for part := range strings.SplitSeq(text, ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0, err
		}
		f = f*60 + n
	}
	return f, nil
}

func cutSign(text string) (sign, rest string) {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[:1], text[1:]
	}
	return "", text
}
