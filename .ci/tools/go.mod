// The tools of a release, of the versions and hashes that go.sum has. No test and no build needs them.
module github.com/policyscan/policyscan/.ci/tools

go 1.26.0

tool github.com/cpuguy83/go-md2man/v2

require (
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
)
