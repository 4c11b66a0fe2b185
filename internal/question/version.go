package question

import "runtime/debug"

// Version returns the version of this module that the program or library was
// built from: a tag, or what Go calls a commit without one. It is "(devel)" if
// the build did not record it, as with -buildvcs=false.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
