package cluster

import (
	"bytes"
	"testing"
)

// FuzzRecords: bytes that a stranger wrote are refused or read, and what is read is written back the same.
func FuzzRecords(f *testing.F) {
	for _, v := range []any{state{Epoch: 3, Saved: []Content{{SumOf(nil), 0, nil}}}, runState{Status: open}, Result{Worker: "w"}, tasks(1)[0]} {
		f.Add(encode(v))
	}
	f.Add([]byte(`{"epoch":1e99}`))
	f.Add([]byte(`{"sum":"00"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, into := range []func() any{func() any { return new(state) }, func() any { return new(runState) }, func() any { return new(Result) }, func() any { return new(Task) }} {
			one, other := into(), into()
			if decode(b, one) != nil {
				continue
			}
			if err := decode(encode(one), other); err != nil || !bytes.Equal(encode(one), encode(other)) {
				t.Errorf("%s: %v", encode(one), err)
			}
		}
		new(Sum).UnmarshalText(b)
		c := InMemory(0, 0)
		content, err := Save(ctx, c.Blocks, Shared, b)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Load(ctx, c.Blocks, Shared, content); err != nil || !bytes.Equal(back, b) {
			t.Errorf("%v, %v", back, err)
		}
	})
}
