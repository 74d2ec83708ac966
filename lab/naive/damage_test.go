package naive

// damage makes one mistake in the bundle of a pair.
func (g *generator) damage(p *pair) {}
