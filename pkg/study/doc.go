// Package study contains experiments that extend those of the paper: the
// paper's experiment on emulated tensor cores and matrix cores that exist, the
// growth of errors with K on them, the validity and tightness of all published
// bounds, and interactive figures with sliders.
//
//	notebook                       Go
//	8, real tensor cores           DefaultHardware, DriftFigure, CancellationTable, TraceTable,
//	                               SideBySideTable
//	9, explore                     ExploreLambda, ExploreBounds, ExploreDevices
//	10, which bound holds          RunSweep, RecordedSweep, RecordedAMD, RecordedScaled,
//	                               RecordedCoverage, DefaultGrowthRates, ToleranceFigure, AdviceTable
//	12, low precision              PrecisionFigure, ScaleTable
//	7, claims and errata           Looseness
//
// The experiments of the paper itself are in package paper. Seeds are fixed,
// and captions name them.
package study
