// Package code has the codes of a verdict's errors, which say why a run could not decide. They are stable: a consumer
// may decide on them. docs/verdict.md says of each when it is written.
//
// The codes of a bundle's mistakes are in package rules/document; [OfBundle] knows them.
package code

// The codes.
const (
	// A run that was killed leaves this one behind: it began and did not end.
	InProgress  = "E_IN_PROGRESS"
	Interrupted = "E_INTERRUPTED" // a signal ended the run
	Timeout     = "E_TIMEOUT"     // --timeout was over
	Internal    = "E_INTERNAL"    // a bug in policyscan

	Read        = "E_READ"        // a file or folder could not be read
	Changed     = "E_CHANGED"     // a file changed, appeared or went while it was read
	NotRegular  = "E_NOT_REGULAR" // a covered FIFO, socket or device
	Unavailable = "E_UNAVAILABLE" // a covered file's content is elsewhere (Git LFS), or encrypted (git-crypt)
	Encoding    = "E_ENCODING"    // git checks a covered file out in an unknown encoding
	Link        = "E_LINK"        // a link to what the rules do not judge as they judge the link's own path
	// two tracked files that are one on disk, where case or normal form does not count
	CaseCollision = "E_CASE_COLLISION"
	Limit         = "E_LIMIT"  // a limit was hit: one that the user set, or one of the program
	Parse         = "E_PARSE"  // a file cannot be parsed, and a rule has a key for it
	Format        = "E_FORMAT" // a rule has a key for a file whose format its name does not say

	RepoFormat    = "E_REPO_FORMAT"    // no git repository, or one of a format that cannot be read
	Index         = "E_INDEX"          // git's index does not say which files there are
	Object        = "E_OBJECT"         // an object is missing, truncated or unreadable
	ObjectHash    = "E_OBJECT_HASH"    // an object's content is not what its name says
	TreeMalformed = "E_TREE_MALFORMED" // a tree holds what git never writes
	RevSyntax     = "E_REV_SYNTAX"     // a base or head that is not a name of a commit
	RevAmbiguous  = "E_REV_AMBIGUOUS"  // a base or head that could mean two things
	BaseMissing   = "E_BASE_MISSING"   // a base or head that this clone does not have
	Shallow       = "E_SHALLOW"        // history that is needed is beyond a shallow clone's boundary
	NoMergeBase   = "E_NO_MERGE_BASE"  // the base and the head are unrelated

	Reuse      = "E_REUSE"       // --reuse: a result that was kept is not what the file's content gives
	Empty      = "E_EMPTY"       // a scope without any file
	NoGoverned = "E_NO_GOVERNED" // --require-governed, and no rule selects a file
	Behind     = "E_BEHIND"      // --require-merged, and the head does not contain all commits of the base
	Partial    = "E_PARTIAL"     // narrowed by --rule or --exclude, or as of a day before today
	FilesFrom  = "E_FILES_FROM"  // an entry of --files-from is not a file of the tree
	List       = "E_LIST"        // a list of repositories has a mistake
	Output     = "E_OUTPUT"      // an output other than the verdict could not be written
	Shard      = "E_SHARD"       // shard files of which no verdict can be made
	Usage      = "E_USAGE"       // flags or arguments that cannot be followed
)
