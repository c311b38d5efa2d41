package rosidl

import "strings"

// The types that every service and action implies, beside their parts.

// implied lists them; the first is the service or action itself.
func (i *Interface) implied() []*Struct {
	switch i.Kind {
	case KindService:
		return impliedByService(i.FullName(), i.File)
	case KindAction:
		return impliedByAction(i.FullName(), i.File)
	}
	return nil
}

// GoTypes lists the types of the interface that programs handle as values: its
// parts, and for actions what clients and servers exchange.
func (i *Interface) GoTypes() []string {
	var names []string
	for _, part := range i.Parts {
		names = append(names, part.Name)
	}
	if i.Kind == KindAction {
		for _, suffix := range []string{"_SendGoal_Request", "_SendGoal_Response", "_GetResult_Request", "_GetResult_Response", "_FeedbackMessage"} {
			names = append(names, i.FullName()+suffix)
		}
	}
	return names
}

// impliedStruct makes a struct of fields written as in a definition.
func impliedStruct(name, file string, fields ...string) *Struct {
	st, err := parseText(file, name, strings.Join(fields, "\n"), 1)
	if err != nil {
		// The fields are constants of this file and names that were checked.
		panic("rosidl: " + err.Error())
	}
	st.File = file
	return st
}

func impliedByService(name, file string) []*Struct {
	return []*Struct{
		impliedStruct(name, file,
			name+"_Request request_message",
			name+"_Response response_message",
			name+"_Event event_message"),
		impliedStruct(name+"_Event", file,
			"service_msgs/ServiceEventInfo info",
			name+"_Request[<=1] request",
			name+"_Response[<=1] response"),
	}
}

func impliedByAction(name, file string) []*Struct {
	all := []*Struct{
		impliedStruct(name, file,
			name+"_Goal goal",
			name+"_Result result",
			name+"_Feedback feedback",
			name+"_SendGoal send_goal_service",
			name+"_GetResult get_result_service",
			name+"_FeedbackMessage feedback_message"),
		impliedStruct(name+"_SendGoal_Request", file,
			"unique_identifier_msgs/UUID goal_id",
			name+"_Goal goal"),
		impliedStruct(name+"_SendGoal_Response", file,
			"bool accepted",
			"builtin_interfaces/Time stamp"),
		impliedStruct(name+"_GetResult_Request", file,
			"unique_identifier_msgs/UUID goal_id"),
		impliedStruct(name+"_GetResult_Response", file,
			"int8 status",
			name+"_Result result"),
		impliedStruct(name+"_FeedbackMessage", file,
			"unique_identifier_msgs/UUID goal_id",
			name+"_Feedback feedback"),
	}
	all = append(all, impliedByService(name+"_SendGoal", file)...)
	return append(all, impliedByService(name+"_GetResult", file)...)
}
