package abi

import (
	"context"
	"fmt"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/audit"
	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/internal/matrix"
)

// Audit answers with what quantisation does to products of a network: the JSON
// of roundoff audit, of the model in a file with activations that are drawn, or
// of the one product of activations a and weights b.
func Audit(text string, a, b *Matrix, cancelled func() bool) (string, error) {
	q := struct {
		Model   string `json:"model"` // a file; empty with a and b
		Recipe  string `json:"recipe"`
		Device  string `json:"device"`
		Promote int    `json:"promote"`
		Seed    uint64 `json:"seed"`
	}{Recipe: question.AuditRecipes, Device: question.AuditDevices, Promote: 128, Seed: 1}
	if err := read(text, &q); err != nil {
		return "", err
	}
	if q.Promote < 0 {
		return "", fmt.Errorf("promote is %d, want 0 or more", q.Promote)
	}
	if given := a != nil || b != nil; given == (q.Model != "") {
		return "", fmt.Errorf("model is %q: want a file, or else the matrices a and b", q.Model)
	}
	recipes, err := question.FindAuditRecipes(q.Recipe)
	if err != nil {
		return "", err
	}
	devices, err := question.FindDevices(q.Device, "")
	if err != nil {
		return "", err
	}
	if q.Model == "" {
		return auditLayer(a, b, recipes, devices, q.Promote)
	}
	m, err := network.Open(q.Model)
	if err != nil {
		return "", failure{err}
	}
	defer m.Close()
	r, err := question.AuditNetwork(context.Background(), m, question.AuditLaw(q.Seed), recipes, devices, q.Promote,
		func(_ int, p network.Product, a *question.AuditedProduct) (blas32.General, error) {
			if cancelled() {
				return blas32.General{}, errCancelled
			}
			a.Data = "N(0,1)"
			return audit.Normal(question.AuditRows, p.K, q.Seed), nil
		})
	if err != nil {
		if err == errCancelled {
			return "", err
		}
		return "", failure{err}
	}
	return write(r)
}

// auditLayer audits the product of a and b.
func auditLayer(a, b *Matrix, recipes []question.AuditRecipe, devices []tcore.Device, promote int) (string, error) {
	if err := fit(a, b); err != nil {
		return "", err
	}
	x, err := a.whole("a")
	if err != nil {
		return "", err
	}
	y, err := b.whole("b")
	if err != nil {
		return "", err
	}
	p := question.AuditedProduct{Name: "a @ b", K: a.Columns, N: b.Columns, Groups: 1, Data: "a"}
	if err := p.Audit(x, y, recipes, devices, promote); err != nil {
		return "", err
	}
	return write(question.AuditReport{Products: []question.AuditedProduct{p}})
}

// whole returns the matrix rounded to binary32.
func (m *Matrix) whole(name string) (blas32.General, error) {
	z, t, err := m.factor(name, tcore.Binary32, tcore.ToNearestEven)
	if t == blas.Trans {
		z = matrix.Transpose(z)
	}
	return z, err
}
