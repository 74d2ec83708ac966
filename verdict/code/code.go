// Package code has the codes of a verdict's errors. They are stable, so that programs can depend on them.
// docs/verdict.md describes each.
//
// The codes of a bundle's mistakes are in package rules/document; [OfBundle] recognises them.
package code

// The codes.
const (
	// A killed run leaves this one: it began and did not end.
	InProgress  = "E_IN_PROGRESS"
	Interrupted = "E_INTERRUPTED" // a signal ended the run
	Timeout     = "E_TIMEOUT"     // --timeout passed
	Internal    = "E_INTERNAL"    // a bug in policyscan

	Read        = "E_READ"        // a file or directory could not be read
	Changed     = "E_CHANGED"     // a file changed, appeared or vanished while it was read
	NotRegular  = "E_NOT_REGULAR" // a covered FIFO, socket or device
	Unavailable = "E_UNAVAILABLE" // a covered file's content is elsewhere (Git LFS), or encrypted (git-crypt)
	Encoding    = "E_ENCODING"    // git checks a covered file out in an unknown encoding
	Link        = "E_LINK"        // a symlink whose target is not checked by the path's rules
	// two tracked files that are one on disk, where case or normal form does not count
	CaseCollision = "E_CASE_COLLISION"
	Limit         = "E_LIMIT"  // a limit was exceeded, the user's or the program's
	Parse         = "E_PARSE"  // a file cannot be parsed, and a rule has a key for it
	Format        = "E_FORMAT" // a rule has a key for a file of unknown format

	RepoFormat    = "E_REPO_FORMAT"    // no git repository, or one of a format that cannot be read
	Index         = "E_INDEX"          // git's index cannot be used
	Object        = "E_OBJECT"         // an object is missing, truncated or unreadable
	ObjectHash    = "E_OBJECT_HASH"    // an object's content does not match its hash
	TreeMalformed = "E_TREE_MALFORMED" // a tree has an entry that git never writes
	RevSyntax     = "E_REV_SYNTAX"     // a base or head that cannot name a commit
	RevAmbiguous  = "E_REV_AMBIGUOUS"  // a base or head with two meanings
	BaseMissing   = "E_BASE_MISSING"   // a base, head or revision that is not in this clone
	Shallow       = "E_SHALLOW"        // needed history is beyond a shallow clone's boundary
	NoMergeBase   = "E_NO_MERGE_BASE"  // the base and the head are unrelated

	Reuse      = "E_REUSE"       // --reuse: a cached result differs from a fresh one
	Empty      = "E_EMPTY"       // a scope without any file
	NoGoverned = "E_NO_GOVERNED" // --require-governed, and no rule selects a file
	Behind     = "E_BEHIND"      // --require-merged, and the head does not contain all commits of the base
	Partial    = "E_PARTIAL"     // narrowed by --rule or --exclude, or as of a day before today
	FilesFrom  = "E_FILES_FROM"  // a PATH, or an entry of --files-from, is not in the tree
	List       = "E_LIST"        // a list of repositories has a mistake
	Output     = "E_OUTPUT"      // an output other than the verdict could not be written
	Shard      = "E_SHARD"       // shard files that cannot be merged
	Usage      = "E_USAGE"       // invalid flags or arguments
)
