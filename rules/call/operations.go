package call

// operations says what a call does, by the capability map of clash's document; nothing, of a tool
// that it does not know.
func (c *Call) operations() operations {
	return operations{}
}
