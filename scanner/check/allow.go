package check

// Reasons for an undecided run that a user may explicitly allow (--allow).
const (
	AllowLFSPointer  = "lfs-pointer"  // a covered Git LFS pointer
	AllowSpecialFile = "special-file" // a covered FIFO, socket or device
	AllowEmpty       = "empty"        // a tree without any file
	AllowSubmodule   = "submodule"    // a covered submodule
	AllowPartial     = "partial"      // a run narrowed by rule or path, or as of a day before today
	AllowEncoding    = "encoding"     // a covered file that git checks out in an unknown encoding
	AllowEncrypted   = "encrypted"    // a covered file that git-crypt has encrypted
	AllowSymlink     = "symlink"      // a symlink whose target other rules check
)
