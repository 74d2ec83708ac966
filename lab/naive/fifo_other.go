//go:build !unix

package naive

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }
