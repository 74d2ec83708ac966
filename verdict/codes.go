package verdict

// The codes of [Error]. They are stable: a consumer may decide on them. The codes
// of a bundle's mistakes begin with E_POLICY_ and are package rules' own.
const (
	// A run that was killed leaves this one behind: it began and did not end.
	InProgress  = "E_IN_PROGRESS"
	Interrupted = "E_INTERRUPTED" // a signal ended the run
	Timeout     = "E_TIMEOUT"     // --timeout was over
	Internal    = "E_INTERNAL"    // a bug of policyscan

	Read        = "E_READ"        // a file or folder could not be read
	Changed     = "E_CHANGED"     // a file changed, appeared or went while it was read
	NotRegular  = "E_NOT_REGULAR" // a governed FIFO, socket or device
	Unavailable = "E_UNAVAILABLE" // a governed file's content is elsewhere (Git LFS)
	Limit       = "E_LIMIT"       // a limit that the user set was hit

	Empty      = "E_EMPTY"       // a scope without any file
	NoGoverned = "E_NO_GOVERNED" // --require-governed, and no rule selects a file
	Partial    = "E_PARTIAL"     // narrowed by --rule or --exclude
	FilesFrom  = "E_FILES_FROM"  // an entry of --files-from is no file of the tree
	Output     = "E_OUTPUT"      // an output other than the verdict could not be written
	Usage      = "E_USAGE"       // flags or arguments that cannot be followed
)
