package gen

import (
	"strings"

	"github.com/tagus-ros/tagus/rosidl"
)

// service writes the parts of a service and its marker type.
func (w *writer) service(i *rosidl.Interface) {
	base := w.g.goNames[i.FullName()]
	w.p("// %s is the service %s: the type argument for servers and clients.", base, i.FullName())
	if c := strings.TrimSpace(i.Parts[0].Comment); c != "" {
		w.p("//")
		w.comment(c, "")
	}
	w.p("type %s struct{}\n", base)
	w.p("// ROSService gives what is known about %s.", i.FullName())
	w.p("func (%s) ROSService() *rosidl.ServiceSupport[%sRequest, %sResponse] { return &service%s }\n", base, base, base, base)
	w.serviceSupport(i.FullName(), base, i.Text)
	for _, part := range i.Parts {
		w.message(part)
	}
}

// serviceSupport writes the support of a service whose request and response
// are types of this file, and the definitions it implies.
func (w *writer) serviceSupport(full, base, source string) {
	w.p("var service%s = rosidl.ServiceSupport[%sRequest, %sResponse]{", base, base, base)
	w.p("Name: %q,\nHash: %q,", full, w.hash(full))
	w.p("Request: &type%sRequest,\nResponse: &type%sResponse,", base, base)
	if source != "" {
		w.p("Source: %s,", textLiteral(source))
	}
	w.p("Description: func() *rosidl.TypeDescription { return schema%s.Description() },\n}\n", base)
	w.onlySchema(full+"_Event", base+"Event")
	w.onlySchema(full, base)
}

// onlySchema writes the definition of a type that has no Go type.
func (w *writer) onlySchema(full, name string) {
	if w.schemaOnly == nil {
		w.schemaOnly = map[string]string{}
	}
	w.schemaOnly[full] = name
	w.schema(name, w.g.set.Struct(full))
}

// action writes the parts of an action, what it implies, and its marker type.
func (w *writer) action(i *rosidl.Interface) {
	full, base := i.FullName(), w.g.goNames[i.FullName()]
	w.p("// %s is the action %s: the type argument for servers and clients.", base, full)
	if c := strings.TrimSpace(i.Parts[0].Comment); c != "" {
		w.p("//")
		w.comment(c, "")
	}
	w.p("type %s struct{}\n", base)
	w.p("// ROSAction gives what is known about %s.", full)
	params := "[" + base + "Goal, " + base + "Result, " + base + "Feedback]"
	w.p("func (%s) ROSAction() *rosidl.ActionSupport%s { return &action%s }\n", base, params, base)
	w.p("var action%s = rosidl.ActionSupport%s{", base, params)
	w.p("Name: %q,\nHash: %q,", full, w.hash(full))
	w.p("Goal: &type%sGoal,\nResult: &type%sResult,\nFeedback: &type%sFeedback,", base, base, base)
	w.p("Source: %s,", textLiteral(i.Text))
	w.p("Description: func() *rosidl.TypeDescription { return schema%s.Description() },", base)
	w.p("SendGoal: &service%sSendGoal,\nGetResult: &service%sGetResult,\nFeedbackMessage: &type%sFeedbackMessage,\n}\n", base, base, base)
	w.serviceSupport(full+"_SendGoal", base+"SendGoal", "")
	w.serviceSupport(full+"_GetResult", base+"GetResult", "")
	w.onlySchema(full, base)
	for _, part := range i.Parts {
		w.message(part)
	}
	w.exchanged(full+"_SendGoal_Request", "SendGoalRequest["+base+"Goal]",
		"uint8[16] goal_id", full+"_Goal goal")
	w.exchanged(full+"_SendGoal_Response", "SendGoalResponse",
		"bool accepted", "int32 sec", "uint32 nanosec")
	w.exchanged(full+"_GetResult_Request", "GetResultRequest",
		"uint8[16] goal_id")
	w.exchanged(full+"_GetResult_Response", "GetResultResponse["+base+"Result]",
		"int8 status", full+"_Result result")
	w.exchanged(full+"_FeedbackMessage", "FeedbackMessage["+base+"Feedback]",
		"uint8[16] goal_id", full+"_Feedback feedback")
}

// exchanged writes the functions for one of the message types of rosidl that
// clients and servers of actions exchange. Its fields are given as they lie in
// that Go type, with the messages of other packages taken apart.
func (w *writer) exchanged(full, goType string, fields ...string) {
	st, err := rosidl.ParseStruct(full, strings.Join(fields, "\n"))
	if err != nil {
		w.fail(err)
		return
	}
	m := w.newMessage(st, map[string]string{"sec": "Stamp.Sec", "nanosec": "Stamp.Nanosec"})
	if m == nil {
		return
	}
	w.intro(m.name, w.g.set.Struct(full))
	w.p("type %s = rosidl.%s\n", m.name, goType)
	m.functions()
}
