package reproduce

import "maps"

// names are those that cells declare, import and use.
type names struct {
	declared map[string]bool
	imported map[string]string // what is imported by the name
	used     map[string]bool
}

// allow reports whether cells with these names can be followed by one that
// declares and imports no name that has another meaning, and, if unused is
// true, none that is used.
func (n *names) allow(p *part, unused bool) bool {
	free := func(name string) bool { return !n.declared[name] && !(unused && n.used[name]) }
	for name, spec := range p.imports {
		if was, again := n.imported[name]; !free(name) && !again || again && was != spec {
			return false
		}
	}
	for name := range p.declares {
		if _, imported := n.imported[name]; imported || !free(name) {
			return false
		}
	}
	return true
}

// add adds the names of a cell.
func (n *names) add(p *part) {
	if n.declared == nil {
		*n = names{map[string]bool{}, map[string]string{}, map[string]bool{}}
	}
	maps.Copy(n.declared, p.declares)
	maps.Copy(n.imported, p.imports)
	maps.Copy(n.used, p.uses)
}
