package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/question"
	"gonum.org/v1/gonum/blas/blas32"
)

// A wrong value of a flag is refused in a sentence that names the flag and the
// value.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	huge, most := strconv.Itoa(math.MaxInt), strconv.Itoa(question.MostTerms+1)
	m := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	if err := saveMatrix("A.npy", m); err != nil {
		t.Fatal(err)
	}
	tenth := writeNumbers(t, t.TempDir(), "tenth.npy", "(2, 2)", 1, 2, 0.1, 3)
	for line, want := range map[string]string{
		"gemm -in binary64 -device ieee " + tenth + " " + tenth + " -o D.npy":       "tenth.npy[1, 0] is 0.1, want a number of binary32",
		"bound -run -in binary64 -acc binary64 -device ieee " + tenth + " " + tenth: "tenth.npy[1, 0] is 0.1, want a number of binary32",
		"bound -k " + huge:                             "-k " + huge + ", want 1 to",
		"bound -k " + most:                             "-k " + most + ", want 1 to",
		"bound -m -5":                                  "-m -5, want 1 to",
		"bound -split-k " + huge:                       "-split-k " + huge + ", want 1 to",
		"bound -device paper -block " + huge:           "-block " + huge + ", want 1 to",
		"bound -block -1":                              "-block -1, want 0 or more",
		"bound -dist U(-1e308,1e308)":                  "U(-1e308,1e308)",
		"bound -dist N(1e30,1)":                        "the mean size is 1e+30, and the largest number of binary16 6.55e+04",
		"bound -dist N(0,1e39) -in bfloat16":           "the mean size is",
		"bound -run -dist U(0,1) -m " + huge:           "-m " + huge,
		"bound -run -dist U(0,1) -m 8192 -n 8192 -k 1": "A is 8192 × 1 and B 1 × 8192, want 1 to",
		"bound -run -dist U(0,1) -m 1000000 -k 9999":   "A is 1000000 × 9999 and B 9999 × 1, want 1 to 40000000",
		"advise -tolerance 1 -k " + huge:               "-k " + huge + ", want 1 to",
		"advise -tolerance 1 -split-k " + huge:         "-split-k " + huge + ", want 1 to",
		"advise -tolerance inf":                        "-tolerance +Inf, want a number above 0",
		"advise -tolerance 1 -dist U(-1e308,1e308)":    "U(-1e308,1e308)",
		"rare -k 0":                                          "-k 0, want 1 to 1048576",
		"rare -k 1048576":                                    "-samples 250 of -k 1048576, want at most 1048576 products at once",
		"rare -runs 1":                                       "-runs 1, want 2 or more",
		"rare -runs 2000":                                    "-runs 2000 of -samples 250, want at most 1000",
		"rare -failure 2":                                    "-failure 2, want probabilities between 1e-320 and 1",
		"rare -failure 1e-400":                               "-failure 1e-400, want probabilities between 1e-320 and 1",
		"rare -failure 1e-3,x":                               "-failure x, want probabilities",
		"rare -limit -1":                                     "-limit -1, want numbers above 0",
		"rare -limit 1 -bound gamma":                         "-limit goes without -bound and -failure",
		"rare -bound none":                                   `no bound "none", see roundoff bound`,
		"rare -device ieee -bound martingale-trace":          "martingale-trace says nothing of this product",
		"rare -dist N(1e30,1)":                               "the mean size is 1e+30",
		"rare -in int8 -device sapphirerapids":               "rounds nothing",
		"rare -stochastic":                                   "truncates, want -device ieee or paper with -stochastic",
		"rare -stochastic -device ieee -bound random-data":   "random-data takes the data as random",
		"rare -device blackwell -in mxe4m3":                  "mxe4m3",
		"rare x":                                             `"x" given, want flags alone`,
		"sweep -m 1000000000000000000":                       "-m 1000000000000000000, want 1 to",
		"sweep -k 1000000000000":                             "A is 64 × 1000000000000 and B",
		"sweep -k 16,16":                                     "-k names 16 twice",
		"sweep -devices hopper,hopper":                       "-devices names hopper twice",
		"sweep -dist U(0,1),U(0,1)":                          "-dist names U(0,1) twice",
		"sweep -confidence 0.9,0.9":                          "-confidence names 0.9 twice",
		"sweep -dist U(-1e308,1e308)":                        "U(-1e308,1e308)",
		"sweep -hunt 1s -o f.csv":                            "-hunt prints what it finds",
		"sweep -hunt 1s -standard":                           "-hunt prints what it finds",
		"sweep -standard -m 4":                               "-m with -standard, which has its own",
		"sweep -standard -confidence 0.9 -k 33":              "-confidence with -standard, which has its own",
		"sweep -standard -per-output":                        "-per-output with -standard, which has its own",
		"sweep -join /dev/zero":                              "/dev/zero",
		"gemm /dev/zero A.npy -o D.npy":                      "/dev/zero: not a NumPy file",
		"gemm -alpha nan A.npy A.npy -o D.npy":               "-alpha NaN, want a number of binary32",
		"gemm -alpha 1e39 A.npy A.npy -o D.npy":              "-alpha 1e+39, want a number of binary32",
		"gemm -beta inf -c A.npy A.npy A.npy -o D":           "-beta +Inf, want a number of binary32",
		"gemm -compare , A.npy A.npy":                        `-compare "," names no device`,
		"gemm -kernel deepgemm A.npy A.npy -o D.npy":         "-kernel is for -recipe",
		"gemm -recipe int8-row -beta 1 -c A.npy A.npy A.npy": "-recipe goes without -in, -alpha, -beta, -c, -split-k and -compare",
		"gemm -recipe int8-row -out int32 A.npy A.npy":       "-out int32 is before scales, -recipe after them",
		"gemm -out int32 A.npy A.npy -o D.npy":               "-out int32: hopper-wgmma-binary16-binary32 adds in binary32, want a device of integers",
		"gemm -in int8 -device sapphirerapids -out int32 -alpha 2 A.npy A.npy -o D.npy":                "-alpha 2 -beta 0 -compare \"\" with -out int32",
		"gemm -in int8 -device sapphirerapids -out int32 -beta 3 -c A.npy A.npy A.npy -o D.npy":        "-alpha 1 -beta 3 -compare \"\" with -out int32",
		"gemm -in int8 -device sapphirerapids -out int32 -compare sapphirerapids A.npy A.npy -o D.npy": "-compare \"sapphirerapids\" with -out int32",
		"gemm -in int8 -device sapphirerapids -out int32 -split-k 2 A.npy A.npy -o D.npy":              "-split-k 2 -promote 0 add in binary32",
		"trace -in int8 -device sapphirerapids -out int32 -promote 64 A.npy A.npy":                     "-split-k 1 -promote 64 add in binary32",
		"gemm -recipe int8-row A.npy":                               "want two files",
		"gemm -recipe torchao-e4m3-row,nvfp5 A.npy A.npy":           `-recipe: no recipe "nvfp5", see roundoff quantise`,
		"gemm -recipe torchao-e4m3-row -kernel x A.npy A.npy":       `-kernel: no kernel "x", want one of deepgemm, deepseek, epilogue, alpha`,
		"gemm -recipe torchao-e4m3-row -promote 3 A.npy A.npy":      "Promote = 3, want a multiple of 32",
		"gemm -recipe torchao-e4m3-row -out x A.npy A.npy":          `no format "x"`,
		"gemm -recipe nvfp4-te-1x16 -device hopper A.npy A.npy":     `no device "hopper" for e2m1,e2m1`,
		"gemm -recipe nvfp4-te-16x16 -device blackwell A.npy A.npy": `recipe "nvfp4-te-16x16" has a scale of the tensor beside those of blocks`,
		"quantisation":                                                                   "want -dist, or files",
		"quantisation A.npy":                                                             "of A nothing is known, want its file before A.npy, -dist or -calibration",
		"quantisation A.npy A.npy A.npy":                                                 "3 files given, want those of A and B, of B alone, or none",
		"quantisation -m 3 A.npy A.npy":                                                  "-m, -n and -k are those of the files",
		"quantisation -k 3 -dist U(0,1) A.npy":                                           "-n and -k are those of A.npy",
		"quantisation -calibration A.npy -dist U(0,1)":                                   "-calibration goes with a file of B",
		"quantisation -recipe int8-row -in e4m3 A.npy A.npy":                             "-recipe goes without -in",
		"quantisation -recipe nvfp5 A.npy A.npy":                                         `-recipe: no recipe "nvfp5", see roundoff quantise`,
		"quantisation -recipe int8-row,int8-row,int8-row A.npy A.npy":                    "are 3 recipes, want one of A and B or one of each",
		"quantisation -in e9m9 A.npy A.npy":                                              `no format "e9m9"`,
		"quantisation -stochastic 33 A.npy A.npy":                                        "-stochastic 33, want 0 to 32",
		"quantisation -dist t(3)":                                                        `law "t(3)", want U(lo,hi), N(mean,deviation) or Laplace(mean,scale)`,
		"quantisation -dist U(0,1),U(0,1) A.npy":                                         `law "U(0,1),U(0,1)", want finite numbers`,
		"quantisation -dist U(0,1) -k 0":                                                 "-k 0, want 1 to",
		"quantisation -confidence 1 -dist U(0,1)":                                        "confidence",
		"quantisation A.npy no.npy":                                                      "open no.npy",
		"quantisation -calibration no.npy A.npy":                                         "open no.npy",
		"tolerance A.npy":                                                                "1 files given, want none, A and B",
		"tolerance -k 0":                                                                 "-k 0, want 1 to",
		"tolerance -k x":                                                                 `-k "x", want integers between commas`,
		"tolerance -o f.npy":                                                             "go with matrices",
		"tolerance -k 3 A.npy A.npy":                                                     "-k and -header go without matrices",
		"tolerance -emulate bits A.npy A.npy":                                            "-emulate goes with three files",
		"tolerance -emulate all A.npy A.npy A.npy":                                       `-emulate "all", want sums or bits`,
		"tolerance -orders all A.npy A.npy":                                              `-orders "all", want split, mixed, machine or any`,
		"tolerance -orders any -split-k 2 A.npy A.npy":                                   "-orders any goes without -split-k",
		"tolerance -split-k -1 A.npy A.npy":                                              "-split-k -1, want 0 or more",
		"tolerance -split-k 2 -parts 3 A.npy A.npy":                                      "-parts 3 goes with -orders split",
		"tolerance -promote 3 A.npy A.npy":                                               "Promote = 3, want a multiple of 16",
		"tolerance -confidence 2 A.npy A.npy":                                            `confidence "2"`,
		"tolerance -want-in e4m3 A.npy A.npy A.npy":                                      "go with WANT.npy",
		"tolerance -device sapphirerapids -in int8 A.npy A.npy":                          "rounds nothing",
		"tolerance -device pascal A.npy A.npy":                                           `no device "pascal"`,
		"tolerance -plan hoper A.npy A.npy":                                              `-plan "hoper": column 1`,
		"predict -k 16,x":                                                                `-k "16,x", want integers between commas`,
		"predict -k 16,0":                                                                "-k 0, want 1 to 16777216",
		"predict all":                                                                    `"all" given, want flags alone`,
		"gemm -recipe int8-row -device hopper a.npy b.npy":                               "-recipe int8-row goes without -device and -promote: sums of integers are exact",
		"gemm -recipe int8-row,mxe4m3-floor a.npy b.npy":                                 "-recipe: int8-row makes int8",
		"predict -recipe int8-row":                                                       "-recipe: int8-row makes int8, which no device multiplies by fractions; sums of integers are exact, and roundoff quantisation knows the other errors",
		"predict -recipe nvfp5":                                                          `-recipe: no recipe "nvfp5", see roundoff quantise`,
		"predict -recipe deepgemm-1x128":                                                 "has scales within a sum",
		"predict -recipe mxe4m3-floor -in e4m3":                                          "-recipe goes without -in",
		"predict -out bfloat16":                                                          "-m, -n and -out are for -recipe",
		"predict -recipe mxe4m3-floor -device blackwell -k 100":                          "K = 100 is no multiple of 32",
		"predict -recipe mxe4m3-floor -k 64 A.npy B.npy":                                 "want flags alone, or two files with -recipe and without -dist, -k, -m and -n",
		"predict -recipe mxe4m3-floor none.npy none.npy":                                 "none.npy",
		"predict -split-k 0":                                                             "-split-k 0, want 1 to 16777216",
		"predict -promote 3":                                                             "Promote = 3, want a multiple of 16",
		"predict -promote 16 -split-k 2":                                                 "Promote = 16 and SplitK = 2, want one of them",
		"predict -acc bfloat16":                                                          `no device "hopper" that accumulates in bfloat16`,
		"predict -device blackwell-tcgen05-f4ue4m3x16-binary32 -in e2m1":                 "nothing is known of its scales",
		"predict -dist U(2,1)":                                                           "want finite numbers, lo < hi",
		"plan explain":                                                                   "want -plan, or -library with its -device and -config",
		"plan explain -plan hoper":                                                       `-plan "hoper": column 1, "hoper": want a device`,
		"plan explain -plan plain -k 0":                                                  "-k 0, want 1 to",
		"plan explain -plan plain -k " + most:                                            "-k " + most + ", want 1 to",
		"plan explain -plan plain A.npy":                                                 `"A.npy" given, want flags alone`,
		"plan explain -plan plain -o plan.pdf":                                           `-o "plan.pdf", want a file.svg or file.png`,
		"plan explain -plan plain -o no/p.svg":                                           "no/p.svg: no such file",
		"plan diff -plan plain":                                                          "want -with, another plan",
		"plan diff -plan plain -with hoper":                                              `-with "hoper": column 1, "hoper"`,
		"plan diff -plan plain -with split -k 262145":                                    "-k 262145, want 1 to 262144",
		"plan explain -library cublaslt-13.1 -device h100":                               "-library cublaslt-13.1, want -device and -config both, or neither",
		"plan explain -library cublaslt-13.1 -device h100 -config 66,0,2,2,0,0,99":       "unsupported STAGES_ID 99 for nvjet; known is STAGES_ID 35, 36",
		"plan explain -library cublaslt-13.1 -device h100 -config 66,0,2,2,0,0,35,0,0,0": "config",
		"plan explain -library cublaslt-13.1 -device a100 -config 66,0,2,2,0,0,35":       `no profile of cuBLASLt on "a100": known are`,
		"plan explain -library cublas-99 -device h100 -config 66":                        "cublas-99",
		"plan explain -plan plain -library numpy-sum":                                    "-plan beside -library or -config, want one of them",
		"plan explain -library numpy-sum -in tf32":                                       "-in tf32 with -library, want binary16, bfloat16, e4m3 or binary32",
		"bound -plan split -split-k 2":                                                   "-plan goes without -device",
		"bound -plan hoper":                                                              `-plan "hoper": column 1`,
		"predict -plan hoper":                                                            `-plan "hoper": column 1`,
		"predict -plan split -promote 128":                                               "-plan goes without -device",
		"sweep -plans hoper":                                                             `-plans "hoper": column 1`,
		"sweep -plans scaled":                                                            "have scales, want one without",
		"plan list all":                                                                  `"all" given, want flags alone`,
		"gemm -plan scaled A.npy A.npy -o D.npy":                                         "-plan \"scaled\" has scales for every 128 products",
		"gemm -plan hoper A.npy A.npy -o D.npy":                                          `-plan "hoper": column 1`,
		"gemm -plan plain -promote 16 A.npy A.npy -o D.npy":                              "-plan goes without -device, -in, -out, -split-k and -promote",
		"gemm -plan plain -recipe int8-row A.npy A.npy -o D.npy":                         "-plan goes without -recipe",
		"trace -plan plain -in e4m3 A.npy A.npy":                                         "-plan goes without -device, -in",
		"trace -plan scaled A.npy A.npy":                                                 "-plan \"scaled\" has scales",
		"trace -plan  A.npy A.npy":                                                       "want two files",
		"trace A.npy":                                                                    "want two files",
		"trace -row 2 A.npy A.npy":                                                       "-row 2 -column 0, want an element of a product of 2 × 2",
		"trace -promote -1 A.npy A.npy":                                                  "Promote = -1, want a multiple of 16",
		"gemm A.npy A.npy -o .":                                                          ". is a folder, want a file",
		"gemm A.npy A.npy -o no/D.npy":                                                   "no/D.npy: no such file",
	} {
		t.Run(line, func(t *testing.T) {
			status, out, errs := ask(t, line)
			if status == 0 || !strings.Contains(errs, want) || strings.Count(errs, "\n") > 3 || out != "" {
				t.Errorf("status %d, %q, %q, want %q", status, errs, out, want)
			}
		})
	}
	t.Run("says_what_is_wrong_once", func(t *testing.T) {
		_, _, errs := ask(t, "gemm -in foo A.npy A.npy -o D.npy")
		if strings.Count(errs, "no format") != 1 {
			t.Errorf("%q", errs)
		}
		_, _, errs = ask(t, "gemm -device foo A.npy A.npy -o D.npy")
		if strings.Count(errs, "blackwell,") != 2 { // blackwell and rtxblackwell
			t.Errorf("%q", errs)
		}
	})
	t.Run("advises_against_what_overflows", func(t *testing.T) {
		if status, out, errs := ask(t, "advise -tolerance 1 -dist N(1e30,1) -device hopper"); status != 0 || !strings.Contains(out, "sums are 1.02e+63 in the mean") {
			t.Errorf("status %d, %q, %q", status, out, errs)
		}
	})
	if left, _ := filepath.Glob("*"); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// A file with a field that no sweep writes is refused, with the line and the
// field.
func TestJoinOfBadRows(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, _, errs := ask(t, "sweep -devices paper -dist U(0,1) -k 16 -m 4 -n 2 -seeds 1:2 -o good.csv"); status != 0 {
		t.Fatal(errs)
	}
	data, err := os.ReadFile("good.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	header, row := strings.Split(lines[1], ","), -1
	for i, line := range lines {
		if strings.Contains(line, ",gamma,") {
			row = i
		}
	}
	if row < 0 {
		t.Fatal("no row of gamma")
	}
	quoted := strings.Replace(lines[row], `"U(0,1)"`, "distribution", 1)
	refused := func(t *testing.T, values map[string]string) {
		t.Helper()
		fields := append(strings.Split(quoted, ","), make([]string, len(header))...)[:len(header)]
		for name, value := range values {
			at := slices.Index(header, name)
			if at < 0 {
				t.Fatalf("no field %s", name)
			}
			fields[at] = value
			if strings.Contains(value, ",") {
				fields[at] = `"` + value + `"`
			}
		}
		changed := slices.Clone(lines)
		changed[row] = strings.Join(fields, ",")
		if err := os.WriteFile("bad.csv", []byte(strings.Join(changed, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		want := "line " + strconv.Itoa(row+1) + ", "
		if status, _, errs := ask(t, "sweep -join bad.csv"); status != 1 || !strings.Contains(errs, want) || strings.Contains(errs, "want sweeps of one version") {
			t.Errorf("%v: status %d, %q, want %q", values, status, errs, want)
		}
	}
	for field, values := range map[string][]string{
		"verdict": {"Holds", "", "yes"}, "confidence": {"nan", "0", "1", "-1", "inf", ""}, "m": {"0", "-4"}, "n": {"0"}, "k": {"0"},
		"runs": {"0", "-1", "3"}, "failed": {"-1", "3", "1"}, "outputs": {"-1", "0", "1"}, "violations": {"-1", "17", "1"},
		"tightness": {"-1", "nan"}, "largest": {"-1", "nan", "1e-300"}, "constant": {"-1", "nan"}, "seeds": {"", "2:1", "1,1", "x", "0:99999999999"},
		"ratios":  {"9223372036854775807:1|0", "-9223372036854775808:1|0", "1:99|0", "1:9223372036854775807|9223372036854775807", "1:-1|0", "", "0:1 1 1 1 1 1 1 1 1 1 1 1 1 1|0"},
		"machine": {""}, "data": {""}, "bound": {""}, "skipped": {"-1"}, "mean": {"nan", "inf"}, "square": {"-1", "nan", "inf"},
		"e": {"nan", "inf"}, "s": {"nan", "-inf"}, "es": {"nan", "inf"}, "ss": {"-1", "nan", "inf"},
		"product_s": {"-1", "nan", "inf"}, "exact_s": {"-1", "nan", "inf"},
	} {
		for _, value := range values {
			refused(t, map[string]string{field: value})
		}
	}
	for _, values := range []map[string]string{
		{"failed": "1", "violations": "17"},
		{"failed": "3", "violations": "3"},
		{"outputs": "1", "ratios": "0:1|0"},
		{"runs": "0", "outputs": "0", "ratios": "0:|0"},
		{"runs": "0", "bound": "error", "confidence": ""},
		{"runs": "-1", "outputs": "-1", "bound": "error", "confidence": ""},
	} {
		refused(t, values)
	}
	if status, _, errs := ask(t, "sweep -join good.csv"); status != 0 {
		t.Errorf("status %d, %q", status, errs)
	}
}
