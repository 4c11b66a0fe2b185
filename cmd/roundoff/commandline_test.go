//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// rows are command lines that have failed or that show typical arguments of a
// command. FuzzCommandLine runs each of them, and edits of them.
var rows = []string{
	"bound -k 9223372036854775807", "bound -split-k 9223372036854775807", "bound -device paper -block 9223372036854775807",
	"advise -tolerance 1 -k 9223372036854775807", "advise -tolerance 1 -split-k 9223372036854775807",
	"bound -dist U(-1e308,1e308)", "advise -tolerance 1e-3 -dist U(-1e308,1e308)", "sweep -dist U(-1e308,1e308)",
	"bound -dist N(1e30,1)", "advise -tolerance 1e-3 -device hopper -dist N(0,1e39)",
	"bound -run -dist U(0,1) -m 9223372036854775807 -k 3", "bound -run -dist U(0,1) -m 1000000 -k 100000",
	"bound -run -m 2000 -n 2000 -k 5000 -dist U(0,1)", "bound -run pipe.npy B.npy", "bound -run -json A.npy B.npy -permute 3",
	"bound -kernel dot -device ieee -in bfloat16 -acc binary32 -out binary16 -order pairs -stochastic -represented -confidence 1-1e-400",
	"bound -k 100 -dist N(0,1)", "bound -run -device ieee -k 50 -m 3 -n 2 -dist U(0,1)", "advise -tolerance 1e-3 -k 100 -dist N(0,1) -device hopper",
	"sweep -devices paper -dist U(0,1) -k 16 -m 4 -n 2 -seeds 1", "sweep -devices hopper-e4m3 -dist ar(0.9)×sparse(0.5,N(0,1)) -k 40 -m 4 -n 2 -seeds 1",
	"sweep -m 1000000000000000000", "sweep -n 1000000000000000000", "sweep -k 1000000000000",
	"sweep -seeds 0:999999 -k 1 -m 1 -n 1 -devices paper -dist U(0,1)", "sweep -k 16,16", "sweep -devices hopper,hopper -o f.csv",
	"sweep -devices paper,hopper/2>binary16 -dist t(3)×N(0,1) -k 16,100 -m 8 -n 2 -seeds 1,3:4 -confidence 0.9,0.99 -told distribution,moments,files -per-output -represented -ranges=false -o f.csv",
	"sweep -join good.csv -o f.csv", "sweep -join good.csv good.csv", "sweep -join bad.csv", "sweep -join zero", "sweep -join seeds.csv",
	"sweep -devices paper -dist U(0,1) -k 16,1000000 -m 9 -n 1 -o f.csv",
	"sweep -devices paper -dist U(0,1) -k 16 -m 4 -n 2 -seeds 1:3 -shard 2/2 -o f.csv", "sweep -join shard.csv", "sweep -join shard.csv good.csv",
	"sweep -standard -devices hopper-wgmma-binary16-binary32 -dist U(0,1) -k 33 -seeds 1 -o f.csv", "sweep -hunt 10m -seed 3",
	"rare -device ieee -k 8 -bound half-ulp-bernstein -failure 1e-3 -samples 20 -runs 3 -json", "rare -stochastic -device ieee -order pairs -k 50 -failure 1e-3,1e-6",
	"rare -limit 1e-3 -represented -in e4m3 -k 4 -moves 2 -samples 30", "rare -bound all -k 1048576 -samples 1048576", "rare -failure 1e-400", "rare -runs 1", "rare -dist N(1e30,1)", "rare -in int8",
	"gemm -in e4m3 -promote 128 A.npy B.npy -o D.npy", "bound -in e4m3 -promote 128 -k 4096", "advise -tolerance 0.01 -promote 128 -k 4096 -dist U(0,1)",
	"bound -recipe mxe4m3-floor -device blackwell -k 9007199254740992 -dist N(0,1)", "bound -recipe torchao-e4m3-row,torchao-e4m3-tensor A.npy B.npy",
	"advise -tolerance 0.1 -recipe nvfp4-torchao-one-level -device blackwell -dist U(0,1)", "advise -tolerance 0.1 -recipe mxe2m1-floor,mxe2m1-even A.npy B.npy",
	"bound -recipe mxe4m3-floor -dist U(-1e308,1e308) -device blackwell", "advise -recipe nvfp5 -tolerance 1", "bound -recipe deepgemm-1x128,deepgemm-128x128 -promote 128 -dist U(0,1)", "advise -tolerance 0.1 -recipe deepseek-1x128 -device hopper A.npy B.npy", "bound -recipe ,", "bound -recipe mxe4m3-floor -in e4m3",
	"gemm -promote 3 A.npy B.npy -o D.npy", "bound -promote -1", "advise -tolerance 1 -promote 100",
	"gemm -recipe deepgemm-1x128,deepgemm-128x128 -kernel deepseek A.npy B.npy -o D.npy", "gemm -recipe nvfp4-te-1x16 -device blackwell -ta A.npy B.npy",
	"gemm -recipe torchao-e4m3-row -promote 128 -out bfloat16 A.npy B.npy", "gemm -recipe nvfp5 A.npy B.npy", "gemm -recipe int8-row A.npy B.npy -o D.npy", "gemm -recipe int8-1x128,mxint8-floor -out bfloat16 -ta A.npy B.npy", "gemm -recipe int8-row -promote 3 A.npy B.npy", "gemm -recipe mxe4m3-floor -in e4m3 A.npy B.npy",
	"predict -in e4m3 -promote 128 -k 16,300", "predict -dist U(-1,1),N(0,1) -device ieee -split-k 3 -acc binary32 -k 100", "predict -k 0", "predict -promote 5",
	"predict -recipe mxe4m3-floor -device blackwell -k 64,33", "predict -recipe torchao-e4m3-row,te-e4m3-tensor -promote 64 -out bfloat16 A.npy B.npy", "predict -recipe nvfp5", "predict -recipe torchao-e4m3-row -dist U(-1e308,1e308) -m 0",
	"trace -in e4m3 -promote 32 A.npy B.npy -row 1 -column 2", "trace -device volta -split-k 2 -out binary16 A.npy B.npy", "trace A.npy B.npy -row 4",
	"quantise", "quantise -recipe mxe4m3-floor A.npy -codes D.npy", "quantise -recipe nvfp4-torchao -side b -stochastic 8 -seed 3 B.npy -values D.npy -scales made",
	"audit net.safetensors", "audit -recipe mxe2m1-floor,int8-row:torchao-e4m3-row -device blackwell,hopper -promote 3 -worst 1 -tolerance 0.1 -seed 2 net.safetensors",
	"audit -json -activations folder net.safetensors", "audit -html made -recipe int8-row net.safetensors", "audit -run x.npz net.onnx", "audit -json -run x.npz -recipe mxe2m1-rceil -device blackwell net.onnx",
	"audit -run A.npy net.onnx", "audit -run x.npz -html made net.onnx", "audit -recipe nvfp5 net.safetensors", "audit short.safetensors", "audit none.onnx", "audit A.npy", "audit folder",
	"audit -json -activations folder net.safetensors", "audit -html made -recipe int8-row net.safetensors", "audit -recipe nvfp5 net.safetensors", "audit short.safetensors", "audit none.onnx", "audit A.npy", "audit folder",
	"quantisation A.npy B.npy", "quantisation -json -recipe mxe2m1-floor,int8-row -stochastic 8 -seed 3 -dist N(0,1) -confidence 0.9 A.npy B.npy", "quantisation tall.npy wide.npy",
	"quantisation -dist U(-1,1),Laplace(0,1) -m 9 -n 5 -k 64 -in e4m3,e5m2", "quantisation -dist U(-1e308,1e308)", "quantisation -dist N(1e30,1) -k 9007199254740992 -m 9007199254740992",
	"quantisation -calibration A.npy -m 3 B.npy", "quantisation -dist N(0,1) -recipe nvfp4-torchao-one-level -confidence 1-1e-400 -k 32", "quantisation -dist U(0,1e-320) B.npy",
	"quantise -recipe nvfp5 A.npy", "quantise -recipe int8-row -side c A.npy",
	"gemm zero B.npy -o D.npy", "gemm -alpha nan A.npy B.npy -o D.npy", "gemm -alpha 1e39 A.npy B.npy -o D.npy",
	"gemm -beta inf -c B.npy A.npy B.npy -o D.npy", "gemm -compare , A.npy B.npy", "gemm -in foo A.npy B.npy -o D.npy",
	"gemm -in e4m3,e5m2 -device hopper -ta -tb -split-k 2 -compare ieee,ampere A.npy B.npy -o D.npy", "gemm none.npy B.npy -o D.npy",
	"gemm pipe.npy B.npy -o D.npy", "gemm A.npy B.npy -o folder", "gemm A.npy B.npy -o no/D.npy", "gemm A.npy B.npy -o pipe.npy",
	"gemm A.npy B.npy -o loop", "gemm A.npy B.npy -o dangling", "gemm tall.npy wide.npy -o D.npy", "bound -run tall.npy wide.npy",
	"advise -tolerance 1e-3 tall.npy wide.npy", "advise -tolerance inf", "advise -tolerance 1 -device hopper,cdna3 -in binary16 -out binary16 A.npy B.npy",
	"vectors check vectors", "vectors check folder", "vectors check .", "devices hopper", "devices pascal",
	"gpu info", "gpu speed -n 32 -passes 9223372036854775807", "gpu speed -n 32 -algorithms 9223372036854775807", "gpu speed -n 32 -passes 1 -seed 3",
	"gpu speed -n 32768", "gpu experiment -m 9223372036854775807 made", "gpu experiment -m 4 -n 4 -k 32 -elements 100 -seed 2 made gemm-positive profile",
	"gpu probe --emulate hopper", "gpu record --rows 10 --seed 2 made", "gpu record --rows 9223372036854775807 --emulate volta made", "gpu record --rows 9223372036854775807 --emulate hopper made",
	"gpu verify --library --shapes 8x16x64,1x64x65 --algorithms 2 fp16", "gpu verify --library --dots 1e3 --seconds 2 --seed 3 fp8 bf16", "gpu verify --emulate hopper --seconds 1e8 --seed 4", "gpu verify --emulate volta --seconds 0.1",
	"reproduce -notebooks folder -out made -kernel bad.csv -timeout 1s -jobs 2 05", "publish -notebooks folder -out made", "publish -compare", "publish -text good.csv",
	"silicon info", "silicon verify --seconds 0.1 --seed 3", "silicon verify --seconds 0.1 hopper", "silicon verify --dots 2e5 --seed 5", "silicon help",
	"silicon probe", "silicon probe hopper", "silicon record --rows 20 --seed 2 made", "silicon record --rows 9223372036854775807 made", "gpu verify --emulate volta --dots 1e4",
	"infer --device volta", "infer --json --seed 3 --silicon sapphirerapids-vdpbf16ps-bfloat16-binary32", "infer --command none --in e4m3,e5m2 --out binary16 --k 3 --timeout 1ms",
	"infer --library A.npy --function dot --in bfloat16 --k 2", "infer --serve --library none.so --k 2", "infer --order --json --device volta-mma-binary16-binary32",
	"devices sapphirerapids", "gemm -in int8 -device sapphirerapids A.npy B.npy -o D.npy", "gemm -in int8,uint8 -device sapphirerapids -out int32 -ta A.npy B.npy -o D.npy", "trace -in int8 -device sapphirerapids A.npy B.npy",
	"bound -in int8,uint8 -device sapphirerapids -k 64", "predict -in uint8 -device sapphirerapids -k 70000", "advise -tolerance 1e-9 -in int8 -represented=false",
	"plan list", "plan list -json", "plan explain -library deepgemm-sm90-1d2d -in e4m3", "plan explain -library cublaslt-13.1 -device h100 -config 66,0,2,2,0,0,35 -m 8", "plan diff -plan plain -with split -library numpy-sum",
	"bound -plan split -k 9000 -dist U(0,1)", "bound -plan lanes A.npy B.npy", "predict -plan split-blocks -k 300", "sweep -plans plain;split -devices hopper -k 16 -m 2", "gemm -library cublaslt-13.1 -device h100 -config 66,0,2,2,0,0,35 A.npy B.npy -o D.npy", "plan explain -plan split-blocks -k 5000", "plan explain -json -plan ieee-fma-bfloat16-binary32 -k 9007199254740992", "plan explain -plan hoper", "plan diff -plan lanes -with slices -k 70", "plan diff -json -plan scaled -with split-blocks -k 200", "plan diff -plan plain -with plain", "plan explain -plan lanes -o made.svg", "plan help",
	"gemm -plan two-halves A.npy B.npy -o D.npy", "gemm -plan lanes -compare ieee,hopper -alpha 2 -beta 3 -c A.npy -ta A.npy B.npy -o D.npy", "gemm -plan scaled A.npy B.npy -o D.npy", "gemm -plan split -in e4m3 A.npy B.npy -o D.npy",
	"trace -plan blocks-of-lanes A.npy B.npy -row 1 -column 2", "trace -plan split wide.npy tall.npy", "trace -plan plain -promote 3 A.npy B.npy",
	"tolerance -k 64,300 -device hopper,volta", "tolerance -header made -in e4m3 -orders any", "tolerance A.npy B.npy -o D.npy -confidence always", "tolerance -emulate sums -split-k 2 A.npy B.npy A.npy",
	"tolerance -json -emulate bits -parts 3 -out binary16 A.npy B.npy B.npy", "tolerance -want-device volta -want-in binary16 -want-acc binary16 -want-out bfloat16 A.npy B.npy A.npy B.npy", "tolerance -plan split A.npy B.npy", "tolerance -promote 32 -in e4m3 -acc binary32 A.npy B.npy",
	"atlas check vectors", "atlas show -device hopper -in e4m3 -dist U(0,1) -k 128", "atlas show -k 3 folder", "atlas make -o made shard.csv", "atlas make -o made good.csv", "atlas page -o made", "sweep -atlas -devices paper-f32 -k 16 -dist U(0,1) -seeds 1", "sweep -atlas -told files",
	"version", "help", "gpu help", "",
}

// oddWords replace a word of a command line, whatever the flag: extreme and
// malformed numbers, names and files.
var oddWords = append([]string{
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "4611686018427387904", "268435456",
	"16777216", "65536", "4096", "129", "16", "3", "2", "1", "0", "-1", "-0", "0x10", "1e3", "1e18", "1e308", "1e309", "-1e308", "1e-400", "5e-324",
	"1e39", "0.5", "0.99", "1-1e-400", "1-1e-300", "nan", "NaN", "inf", "-Inf", "", " ", ",", ",,", ":", "-", "--", "=", "é", "\x1b[31m",
	strings.Repeat("9", 400), strings.Repeat("x", 5000), "0:999999", "1:1000000,5", "7:3", "16,100,1000", "1h", "-1h", "1ns", "9999999h",
	"U(0,1)", "U(1,0)", "U(0,1e-320)", "N(0,0)", "N(1,-1)", "N(nan,1)", "t(0)", "t(1e-9)", "point(inf)", "grid(0,1,1e-300)", "grid(-1,1,0.1)",
	"log-uniform(-1e9,1e9)", "sparse(2,U(0,1))", "mix(0.5,U(0,1),N(0,1))", "softmax(1e300)", "blocks(-127,127,U(-1,1))", "ar(1)", "ar(0.99)",
	"U(0,1)×U(0,1)×U(0,1)", "sorted(sorted(sorted(U(0,1))))", strings.Repeat("relu(", 2000) + "U(0,1)" + strings.Repeat(")", 2000),
	"U(0,1),N(0,1)", "paper", "ieee", "volta", "cdna1", "blackwell-nvf4", "hopper/16", "hopper/0", "hopper>binary16", "ieee>e4m3", "Hopper", "all",
	"binary16", "binary64", "e2m1", "tf32", "e4m3,e5m2", "e4m3,", "pairs", "compensated", "moments", "files",
	"plain", "lanes", "hopper-wgmma-binary16-binary32 | every 3 > binary16", "ieee-fma-binary16-binary32 group 1 tile 2 | lanes 4 vector 1 + butterfly zero | at 1,2 > bfloat16 fused-beta",
	"ieee-fma-binary16-binary32 | every 1 | parts 16777216 + folds 16777216,1", "ieee-fma-binary32-binary32 | lanes 16777216 | every 1", "hopper-wgmma-e4m3-binary32 | evry 3", "x | |", "ieee-fma-binary16-binary32 | parts 3 floor + partial e2m1 running e4m3",
	"check", "hopper-wgmma-e4m3-binary32", "blackwell-mma-e2m1-binary32", "experiment", "help", "-h",
}, files...)

// files are names of files in the folder of a command line, and of files that
// do not exist.
var files = []string{
	"A.npy", "B.npy", "tall.npy", "wide.npy", "empty.npy", "short.npy", "none.npy", "huge.npy", "pipe.npy", "made.svg", "zero", "good.csv", "bad.csv", "seeds.csv", "shard.csv",
	"net.safetensors", "net.onnx", "x.npz", "short.safetensors", "folder", "vectors", "vectors/x.tcv.gz", "dangling", "loop", "made", "D.npy", "no/such", "A.npy/x", ".", strings.Repeat("n", 300),
}

// target is what the link dangling points to.
const target = "nothing.yet"

// edited returns a command line with some words inserted, replaced and deleted,
// determined by number. It adds flags of the command, with values from other
// lines or from oddWords, and files and words anywhere. Number 0 changes
// nothing.
func edited(line []string, number uint64) []string {
	if number == 0 {
		return line
	}
	rng := rand.New(rand.NewPCG(number, 0))
	line = slices.Clone(line)
	for range 1 + rng.IntN(3) {
		name := commandOf(line)
		at := len(name) + rng.IntN(1+len(line)-len(name))
		switch edit := rng.IntN(10); edit {
		case 0, 1, 2, 3, 4, 5:
			command := strings.Join(name, " ")
			flag := one(rng, flagsOf(command))
			if flag == "" {
				continue
			}
			value := one(rng, valuesOf(flag))
			if edit > 2 || value == "" {
				value = one(rng, takenBy(command, flag))
			}
			line = append(line, "-"+flag+"="+value) // overrides an earlier flag of the same name
		case 6:
			line = slices.Insert(line, at, one(rng, oddWords))
		case 7:
			line = slices.Replace(line, at, min(at+1, len(line)), one(rng, oddWords))
		case 8:
			line = slices.Replace(line, at, min(at+1, len(line)), one(rng, files))
		case 9:
			line = slices.Delete(line, at, min(at+1, len(line)))
		}
	}
	return line
}

// one returns a random word of a list, "" for an empty list.
func one(rng *rand.Rand, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[rng.IntN(len(list))]
}

// commandOf returns the words of a line that name its command.
func commandOf(line []string) []string {
	n := min(1, len(line))
	if len(line) > 1 && slices.Contains([]string{"gpu", "silicon", "vectors", "plan", "atlas"}, line[0]) {
		n = 2
	}
	return line[:n]
}

// flagName matches the name of a flag in the help of a command.
var flagName = regexp.MustCompile(`(?m)^  -(\S+)`)

// flagsOf returns the names of the flags of a command, read from its help.
var flagsOf = remembered(func(command string) (flags []string) {
	var help bytes.Buffer
	run(context.Background(), append(strings.Fields(command), "-help"), &help, &help)
	for _, match := range flagName.FindAllStringSubmatch(help.String(), -1) {
		flags = append(flags, match[1])
	}
	return flags
})

// takenBy returns the odd words that a flag of a command accepts: those after
// which -help still succeeds.
func takenBy(command, flag string) []string { return takenByFlag(command + " -" + flag) }

var takenByFlag = remembered(func(flag string) (taken []string) {
	for _, word := range oddWords {
		line := strings.Fields(flag)
		line[len(line)-1] += "=" + word
		if run(context.Background(), append(line, "-help"), io.Discard, io.Discard) == 0 {
			taken = append(taken, word)
		}
	}
	return taken
})

// remembered returns f with its results stored: each is computed once.
func remembered(f func(string) []string) func(string) []string {
	known := map[string][]string{}
	return func(word string) []string {
		if _, ok := known[word]; !ok {
			known[word] = f(word)
		}
		return known[word]
	}
}

// valuesOf returns the words that follow a flag in rows.
func valuesOf(flag string) (values []string) {
	for _, row := range rows {
		line := strings.Fields(row)
		for i, word := range line[:max(0, len(line)-1)] {
			if strings.TrimLeft(word, "-") == flag && word != flag {
				values = append(values, line[i+1])
			}
		}
	}
	return values
}

// contents maps the names of the files of a command line to their contents.
type contents map[string][]byte

// makeFiles returns the contents of the files. They take a while to compute.
func makeFiles(f *testing.F) contents {
	f.Helper()
	matrix := func(rows, cols int) []byte {
		m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range m.Data {
			m.Data[i] = float32(i%7) - 2.5
		}
		var b bytes.Buffer
		if err := writeMatrix(&b, m); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	square := matrix(4, 4)
	table := table(f)
	seeds := bytes.ReplaceAll(table, []byte(",1,1,0,8,"), []byte(",0:999999,1,0,8,"))
	for i := range 300 {
		_, row, _ := bytes.Cut(table, []byte("\npaper,"))
		row, _, _ = bytes.Cut(row, []byte("\n"))
		seeds = fmt.Appendf(seeds, "m%d,%s\n", i, bytes.Replace(row, []byte(",1,1,0,8,"), fmt.Appendf(nil, ",%d:%d,1,0,8,", i, 999999), 1))
	}
	dir := f.TempDir()
	var said bytes.Buffer
	if status := run(f.Context(), []string{"gpu", "record", "-rows=20", "-emulate=volta", dir}, &said, &said); status != 0 {
		f.Fatal(said.String())
	}
	recorded, err := filepath.Glob(filepath.Join(dir, "*.tcv.gz"))
	if err != nil || len(recorded) == 0 {
		f.Fatal(recorded, err)
	}
	vectors, err := os.ReadFile(recorded[0])
	if err != nil {
		f.Fatal(err)
	}
	net := safetensors(numbered(20, 3), numbered(1, 1))
	shard := filepath.Join(dir, "shard.csv")
	if status := run(f.Context(), strings.Fields("sweep -devices paper -dist U(0,1) -k 16 -m 4 -n 2 -seeds 1 -shard 1/1 -o "+shard), &said, &said); status != 0 {
		f.Fatal(said.String())
	}
	part, err := os.ReadFile(shard)
	if err != nil {
		f.Fatal(err)
	}
	return contents{
		"A.npy": square, "B.npy": square, "tall.npy": matrix(1<<14, 1), "wide.npy": matrix(1, 1<<14), "empty.npy": nil, "short.npy": square[:len(square)-5],
		"none.npy": npyFile(dictionary("<f8", "False", "None"), []float64{1}), "good.csv": table, "bad.csv": bytes.ReplaceAll(table, []byte(",holds,"), []byte(",Holds,")),
		"huge.npy": npyFile(dictionary("<f8", "False", "(9223372036854775807, 9223372036854775807)"), []float64{1}), "seeds.csv": seeds, "shard.csv": part,
		"net.safetensors": net, "short.safetensors": net[:len(net)-5], "vectors/x.tcv.gz": vectors, "folder/text": []byte("text"),
		"net.onnx": layer(numbered(20, 3)), "x.npz": savez(map[string][]byte{"x": npyFile(dictionary("<f8", "False", "(1, 20)"), make([]float64, 20))}),
	}
}

// table returns the rows of a small sweep as the contents of a file.
func table(f *testing.F) []byte {
	f.Helper()
	machine, errMachine := sweep.FindMachine("paper")
	data, errData := sweep.FindGenerator("U(0,1)")
	p := sweep.Plan{Machines: []tcore.Machine{machine}, Data: []sweep.Generator{data}, M: 4, N: 2, Ks: []int{16}, Seeds: []uint64{1}, Confidences: []float64{0.99}}
	list, err := p.Run(f.Context(), nil)
	var b bytes.Buffer
	if err := errors.Join(errMachine, errData, err, sweep.Write(&b, "a small sweep", list)); err != nil {
		f.Fatal(err)
	}
	return b.Bytes()
}

// write creates the files, a pipe, links and a device in a folder.
func (c contents) write(t *testing.T, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range c {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe.npy"), 0o600), os.Symlink(target, at("dangling")), os.Symlink("loop", at("loop"))); err != nil {
		t.Fatal(err)
	}
	// The device number of /dev/zero. If zero were a link to it, a faulty command
	// run as root could replace /dev/zero.
	const zero = 1<<8 | 5
	if err := syscall.Mknod(at("zero"), syscall.S_IFCHR|0o600, zero); err != nil && os.Geteuid() != 0 {
		if err := os.Symlink("/dev/zero", at("zero")); err != nil {
			t.Fatal(err)
		}
	}
}

// rows has a line of every command, and edited knows the flags of the commands.
func TestRows_are_of_every_command(t *testing.T) {
	all := []string{"help"}
	for _, c := range commands {
		all = append(all, c.name)
		for _, sub := range subcommands()[c.name] {
			all = append(all, c.name+" "+sub.name)
		}
	}
	for _, name := range all {
		if !slices.ContainsFunc(rows, func(row string) bool { return row == name || strings.HasPrefix(row, name+" ") }) {
			t.Errorf("no row of roundoff %s", name)
		}
	}
	for command, flag := range map[string]string{"bound": "dist", "sweep": "told", "gpu record": "rows", "reproduce": "out", "advise": "json"} {
		if !slices.Contains(flagsOf(command), flag) {
			t.Errorf("%s has flags %v, want %s among them", command, flagsOf(command), flag)
		}
	}
	line, flags := strings.Fields("bound -k 16"), map[string]bool{}
	for number := range uint64(1000) {
		for _, word := range edited(line, number) {
			if flag, value, ok := strings.Cut(word, "="); ok {
				flags[flag] = true
				if flag == "-k" && (value == "nan" || value == "") {
					t.Errorf("-k is given %q, which no integer is", value)
				}
			}
		}
	}
	if got := edited(line, 0); !slices.Equal(got, line) || len(flags) < 15 {
		t.Errorf("by 0 the line is %q, and a thousand edits give it the flags %v", got, flags)
	}
}
