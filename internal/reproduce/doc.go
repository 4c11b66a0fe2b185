// Package reproduce runs notebooks and gathers what they found: it executes
// every notebook in a kernel of its own, stops at the first cell that fails,
// checks the figures and claims the notebooks wrote, and makes of them one page
// for people.
//
//	report, err := reproduce.Job{Out: "out", Notebooks: "notebooks", Kernel: "tools/kernels/gonb/kernel.json",
//		Timeout: 5 * time.Minute, Log: os.Stdout}.Run(ctx)
//
// It writes into one folder:
//
//	out/notebooks/NAME.ipynb            each notebook as executed
//	out/figures/NAME.{svg,png,csv,json} each figure and table, and the record that describes it
//	out/claims.json                     the claims of the paper, with verdicts
//	out/profile.json                    the times of Table 3, measured once, which several notebooks quote
//	out/index.html                      all of it on one page
//
// A notebook is told where by the environment: ROUNDOFF_OUT is the absolute
// path of the folder, ROUNDOFF_NOTEBOOK the name of the notebook. Figures and
// claims are the notebooks' own doing; this package knows how they are written
// down (Figure, Claim) and nothing of what they say.
package reproduce
