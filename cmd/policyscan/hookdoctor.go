package main

type hookDoctorCmd struct{}

func (c *hookDoctorCmd) Run(std streams) error { return nil }
