package repo

import "sync"

// A cache drops everything rather than grow over a limit. Several goroutines may use it.
type cache[K comparable, V any] struct {
	mu     sync.Mutex // guards the fields below
	values map[K]V
	size   int // of all values
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, known := c.values[key]
	return value, known
}

// put keeps a value of a size. All sizes together are at most limit.
func (c *cache[K, V]) put(key K, value V, size, limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += size; c.values == nil || c.size > limit {
		c.values, c.size = map[K]V{}, size
	}
	c.values[key] = value
}
