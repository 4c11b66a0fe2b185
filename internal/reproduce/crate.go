package reproduce

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/atomicfile"
)

// crateName is the file that makes a folder an RO-Crate.
const crateName = "ro-crate-metadata.json"

// What the crate refers to.
const (
	crateVersion = "https://w3id.org/ro/crate/1.3"
	software     = "https://github.com/roundofflab/roundoff"
	article      = "https://arxiv.org/abs/2411.18747"
	licence      = "https://spdx.org/licenses/BSD-3-Clause"
)

// An entity is a node of a crate, by its properties.
type entity map[string]any

// node returns a reference to the entity of that name.
func node(id string) entity { return entity{"@id": id} }

// saveCrate writes into the folder out what makes it a Research Object Crate
// (RO-Crate 1.3, Soiland-Reyes et al. 2022): each file of the run with its
// size, its SHA-256 and what it shows, and what made them, when and on which
// machine.
func (r *Report) saveCrate(out string) error {
	files, err := r.crateFiles(out)
	if err != nil {
		return err
	}
	graph := append(r.crateRun(), files...)
	parts := make([]entity, len(files))
	for i, f := range files {
		parts[i] = node(f["@id"].(string))
	}
	graph[1]["hasPart"] = parts // of the root
	data, err := json.MarshalIndent(entity{"@context": crateVersion + "/context", "@graph": graph}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(out, crateName), append(data, '\n'))
}

// crateRun returns the entities that are no files: the descriptor, the root,
// and of what, by what and how the root came to be.
func (r *Report) crateRun() []entity {
	ended := r.Date.Add(r.Duration)
	m := r.Machine
	return []entity{
		{"@id": crateName, "@type": "CreativeWork", "name": "What is in this folder", "about": node("./"), "conformsTo": node(crateVersion)},
		{"@id": "./", "@type": "Dataset", "name": "Results of make reproduce",
			"description":   fmt.Sprintf("Every figure, table and claim of a paper on rounding errors, and of what goes beyond it, computed again: %v.", r),
			"datePublished": ended.UTC().Format(time.DateOnly), "license": node(licence), "isBasedOn": node(article), "mentions": node("#run")},
		{"@id": "#run", "@type": "CreateAction", "name": "make reproduce", "instrument": node(software), "result": node("./"),
			"startTime": r.Date.UTC().Format(time.RFC3339), "endTime": ended.UTC().Format(time.RFC3339),
			"description": fmt.Sprintf("The notebooks %s, on %s, %d cores, %s", strings.Join(r.Ran, ", "), m.CPU, m.Cores, m.System)},
		{"@id": software, "@type": "SoftwareApplication", "name": "Roundoff", "url": software, "version": m.Revision, "license": node(licence),
			"description": "Go packages that bound rounding errors and emulate tensor cores", "runtimePlatform": m.Go},
		{"@id": article, "@type": "ScholarlyArticle",
			"name":        "Deterministic and Probabilistic Rounding Error Analysis for Mixed-Precision Arithmetic on Modern Computing Units",
			"description": "S. Bhola and K. Duraisamy, arXiv:2411.18747"},
		{"@id": licence, "@type": "CreativeWork", "name": "BSD-3-Clause", "description": "The 3-clause BSD licence"},
	}
}

// crateFiles returns an entity for each file of the run in the folder out.
func (r *Report) crateFiles(out string) ([]entity, error) {
	var all []entity
	add := func(path, name, description string) error {
		data, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(path)))
		if err == nil {
			all = append(all, entity{"@id": path, "@type": "File", "name": name, "description": description, "encodingFormat": mediaTypes[filepath.Ext(path)],
				"contentSize": fmt.Sprint(len(data)), "sha256": fmt.Sprintf("%x", sha256.Sum256(data))})
		}
		return err
	}
	for _, f := range []struct{ path, name, description string }{
		{"index.html", "Report", "All results on one page"},
		{"report.json", "Record of the run", "What was run, when and where"},
		{"claims.json", "Claims of the paper", "Each with what was found and a verdict"},
		{"answer.json", "Answer", "What the verdicts say together"},
		{"claims-elsewhere.json", "Claims of others", "What others published on low precision, and what is found"},
	} {
		if err := add(f.path, f.name, f.description); err != nil && !os.IsNotExist(err) {
			return nil, err // without all notebooks, some are not there
		}
	}
	for _, s := range r.Sections {
		if err := add("notebooks/"+s.Name+".ipynb", s.Title, "A notebook as it was run"); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, f := range s.Figures {
			for _, kind := range figureFiles {
				if err := add("figures/"+f.Name+kind.ext, f.Name+kind.ext, f.Finding); err != nil {
					return nil, err
				}
			}
			if f.interactive {
				if err := add("figures/"+f.Name+pageExt, f.Name+pageExt, f.Finding); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// mediaTypes has those of the files of a run, by extension.
var mediaTypes = map[string]string{
	".html": "text/html", ".json": "application/json", ".csv": "text/csv", ".svg": "image/svg+xml", ".png": "image/png",
	".ipynb": "application/x-ipynb+json",
}
