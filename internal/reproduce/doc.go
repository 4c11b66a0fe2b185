// Package reproduce runs notebooks and collects their results. It executes
// every notebook in a kernel of its own, several at the same time, until a cell
// fails, checks the figures and claims that the notebooks wrote, and combines
// them in one HTML page.
//
//	report, err := reproduce.Job{Out: "out", Notebooks: "notebooks", Kernel: "tools/kernels/gonb/kernel.json",
//		Timeout: 5 * time.Minute, AtATime: 2, Log: os.Stdout}.Run(ctx)
//
// It writes into one folder:
//
//	out/notebooks/NAME.ipynb            each notebook as executed
//	out/figures/NAME.{svg,png,csv,json} each figure and table, and the record that describes it
//	out/claims.json                     the claims of the paper, with verdicts
//	out/answer.json                     what they say together: a few sentences, and the paper's figures and tables
//	out/claims-elsewhere.json           what others published, with what the emulator gives; not read here
//	out/profile.json                    the times of Table 3, measured once and used by several notebooks
//	out/report.json                     what was run, when and where
//	out/index.html                      the page with all results
//	out/ro-crate-metadata.json          what each of these files is, with checksums, for archives (RO-Crate)
//
// Two environment variables pass the location to a notebook: ROUNDOFF_OUT is
// the absolute path of the folder, ROUNDOFF_NOTEBOOK the name of the notebook.
// The notebooks make the figures and claims; this package only knows their
// format (Figure, Claim, Answer) and not their content.
package reproduce
