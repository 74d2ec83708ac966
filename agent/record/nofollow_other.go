//go:build !unix

package record

// noFollow is nothing that this system knows: a link that takes the file's place between two steps is seen afterwards.
const noFollow = 0
