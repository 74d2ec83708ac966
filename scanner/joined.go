package scanner

import (
	"context"
	"maps"
	"slices"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
)

// A joinedFile is a file of several whose lines were one file's before, for one thing that a rule asks.
type joinedFile struct {
	path   string
	lines  occurrences
	was    []bool
	broken *check.Finding // nil: it is no part of the change
}

// labelJoined labels what is broken in files that are compared together: each line there is taken by its own file
// first, then by the others, in the order of their paths. A file that is not part of the change takes its own, too.
func (h *past) labelJoined(broken []check.Finding) {
	type group struct {
		asking
		first string
	}
	groups := map[group]map[string]*check.Finding{} // by path
	for i := range broken {
		br := &broken[i]
		if br.Grouped == nil {
			continue
		}
		g := group{asking{br.Rule, br.Ref}, h.joined(br.Rule, br.Path)[0]}
		if groups[g] == nil {
			groups[g] = map[string]*check.Finding{}
		}
		groups[g][br.Path] = br
	}
	if len(groups) == 0 {
		return
	}
	h.asking.Lock()
	defer h.asking.Unlock()
	x := &match.Examiner{Limit: h.run.opt.MaxFileBytes, Mark: true}
	ctx := context.Background()
	known := map[pastFile]*examined{}
	look := func(m *tree.Snapshot, path string, ask asking) *check.Finding {
		key := pastFile{m, path}
		if known[key] == nil {
			known[key] = h.examine(ctx, x, m, path)
		}
		for i := range known[key].broken {
			if br := &known[key].broken[i]; br.Rule == ask.rule && br.Ref == ask.ask {
				return br
			}
		}
		return nil
	}
	for g, members := range groups {
		paths := h.joined(g.rule, slices.Min(slices.Collect(maps.Keys(members))))
		var files []*joinedFile
		for _, path := range paths {
			br := members[path]
			now := br
			if now == nil {
				now = look(h.states.Now, path, g.asking)
			}
			if now != nil {
				f := &joinedFile{path: path, lines: linesOf(now), broken: br}
				f.was = f.lines.marks(true)
				files = append(files, f)
			}
		}
		for _, m := range h.before {
			if !m.Differs {
				continue
			}
			stocks := make([]stock, len(paths))
			for i, path := range paths {
				if there := look(m, path, g.asking); there != nil {
					stocks[i] = newStock(linesOf(there))
				}
			}
			takeJoined(files, paths, stocks)
		}
		for _, f := range files {
			if f.broken != nil {
				setStatus(ctx, x, f.broken.Grouped, f.broken, f.was)
			}
		}
	}
	for i := range broken {
		if br := &broken[i]; br.Grouped != nil && br.Match != nil {
			br.Match.Forget()
		}
	}
}

// takeJoined takes the lines of one state for files, by the stock of each path.
func takeJoined(files []*joinedFile, paths []string, stocks []stock) {
	all := make([]*taking, len(files))
	for i, f := range files {
		all[i] = newTaking(&f.lines)
		all[i].from(stocks[slices.Index(paths, f.path)])
	}
	for i, f := range files {
		for k := range paths {
			all[i].from(stocks[k])
		}
		both(f.was, all[i].had)
	}
}
