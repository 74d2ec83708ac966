// Command nothing is what a program in Go costs that does nothing.
package main

func main() {}
