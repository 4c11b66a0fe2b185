// Package study is what the paper's questions lead to beyond the paper: its
// experiment on the matrix units that people own, how errors grow there, which
// of all published bounds hold and how close they come, and pages with sliders
// on which to try it.
//
//	notebook                       Go
//	8, real tensor cores           DefaultHardware, DriftFigure, CancellationTable, TraceTable,
//	                               SideBySideTable
//	9, explore                     ExploreLambda, ExploreBounds, ExploreDevices
//	10, which bound holds          RunSweep, RecordedSweep, RecordedAMD, RecordedScaled,
//	                               RecordedCoverage, DefaultGrowthRates, ToleranceFigure, AdviceTable
//	7, claims and errata           Looseness
//
// The experiments of the paper itself are in package paper. Seeds are fixed,
// and captions name them.
package study
