package cluster

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// damaging are blocks that a test damages.
type damaging struct {
	Blocks
	turn sync.Mutex
	puts []Sum
	bad  map[Sum]bool
}

func (s *damaging) Put(ctx context.Context, space string, sum Sum, block []byte) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.puts = append(s.puts, sum)
	delete(s.bad, sum)
	return s.Blocks.Put(ctx, space, sum, block)
}

func (s *damaging) Get(ctx context.Context, space string, sum Sum) ([]byte, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	b, err := s.Blocks.Get(ctx, space, sum)
	if s.bad[sum] && len(b) > 0 {
		b[len(b)-1] ^= 1
	}
	return b, err
}

// damage damages the last n blocks that were stored.
func (s *damaging) damage(n int) {
	s.turn.Lock()
	defer s.turn.Unlock()
	for _, sum := range s.puts[len(s.puts)-n:] {
		s.bad[sum] = true
	}
}

// TestDamagedState: a state whose bytes have another sum is not computed with. The worker goes on from the one before it, or begins anew.
func TestDamagedState(t *testing.T) {
	for n, from := range []int{4, 3, 0} { // n newest states are damaged: the first step that is made then
		everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
			c, work := m.Make(t, 0, 0), always(8)
			store := &damaging{Blocks: c.Blocks, bad: map[Sum]bool{}}
			c.Blocks = store
			noted := 0
			go func() {
				first, _ := start(t, ctx, c, "first", work.work, 0)
				time.Sleep(4*time.Second + time.Second/2)
				first.kill()
				store.damage(n)
				w := worker(c, "second", work.work)
				w.Note = func(_ Task, err error) {
					if !errors.As(err, new(*DamagedError)) {
						t.Error(err)
					}
					noted++
				}
				w.Run(ctx)
			}()
			if err := collect(t, c, tasks(1), work); err != nil {
				t.Error(err)
			}
			if made := work.made(0); made[5] != from || noted != n { // the first worker was killed in its fifth step
				t.Errorf("%d damaged: steps %v, %d notes", n, made, noted)
			}
		})
	}
}

// TestDamagedInput: a damaged input ends the run with its name, and is not computed with.
func TestDamagedInput(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c := m.Make(t, 0, 0)
		store := &damaging{Blocks: c.Blocks, bad: map[Sum]bool{}}
		c.Blocks = store
		data, err := Save(ctx, store, Shared, []byte("0,1,2"))
		if err != nil {
			t.Fatal(err)
		}
		all := tasks(1)
		all[0].Data = []Input{{"wine.csv", data}}
		store.damage(1)
		go worker(c, "w", func(_ context.Context, job *Job) ([]byte, error) {
			b, err := job.Load(job.Task.Data[0].Content)
			if err == nil {
				t.Errorf("computed with %q", b)
			}
			return b, err
		}).Run(ctx)
		err = (&Coordinator{Cluster: c}).Do(ctx, all, func(int, End) error { return nil })
		if !errors.As(err, new(*FailedError)) || !strings.Contains(err.Error(), data.Sum.String()) {
			t.Error(err)
		}
	})
}

// TestDamagedResult: a damaged result is not handed on.
func TestDamagedResult(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(1)
		store := &damaging{Blocks: c.Blocks, bad: map[Sum]bool{}}
		c.Blocks = store
		go worker(c, "w", work.work).Run(ctx)
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
		store.damage(1)
		if err := collect(t, c, tasks(1), work); !errors.As(err, new(*DamagedError)) {
			t.Error(err)
		}
	})
}

// TestOldStatesAreDropped: a task has at most two saved states beside the one that is being written, and none when it is done. The same
// bytes in the space of results stay.
func TestOldStatesAreDropped(t *testing.T) {
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, most := InMemory(0, 0), 0
		held := func() int {
			m := c.Blocks.(*memoryBlocks)
			m.turn.Lock()
			defer m.turn.Unlock()
			return len(m.blocks)
		}
		go worker(c, "w", func(_ context.Context, job *Job) ([]byte, error) {
			for k := range 20 {
				job.Progress(float64(k) / 20)
				if err := job.Save([]byte{byte(k)}); err != nil {
					return nil, err
				}
				most = max(most, held())
			}
			return []byte{5}, nil // the bytes of a state that was dropped
		}).Run(ctx)
		err := (&Coordinator{Cluster: c}).Do(ctx, tasks(1), func(_ int, end End) error {
			if result := end.Result; !bytes.Equal(result, []byte{5}) {
				t.Errorf("%v", result)
			}
			return nil
		})
		time.Sleep(time.Second)
		if err != nil || most != 2 || held() != 1 {
			t.Errorf("%v; up to %d blocks, and %d in the end", err, most, held())
		}
	})
}

// TestFullStore: a run that does not fit the store ends with that reason.
func TestFullStore(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 100), always(4) // the third state has no room
		go worker(c, "w", work.work).Run(ctx)
		if err := collect(t, c, tasks(1), work); !errors.As(err, new(*FailedError)) || !strings.Contains(err.Error(), ErrFull.Error()) {
			t.Error(err)
		}
	})
}

// TestRoomAgain: a run that does not fit the store, and is given room meanwhile, ends well.
func TestRoomAgain(t *testing.T) {
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, work := InMemory(0, 100), always(4)
		go worker(c, "w", work.work).Run(ctx)
		time.AfterFunc(10*time.Second, func() {
			m := c.Blocks.(*memoryBlocks)
			m.turn.Lock()
			defer m.turn.Unlock()
			m.most = 1000
		})
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
	})
}

// TestContents: bytes of every length come back, in blocks of at most MaxBlock.
func TestContents(t *testing.T) {
	c := InMemory(0, 0)
	for _, n := range []int{0, 1, MaxBlock + 1} {
		b := bytes.Repeat([]byte{7}, n)
		content, err := Save(ctx, c.Blocks, Shared, b)
		if err != nil || content.Bytes != int64(n) || len(content.Blocks) != (n+MaxBlock-1)/MaxBlock || content.Sum != SumOf(b) {
			t.Fatalf("%d bytes: %v, %v", n, content, err)
		}
		if back, err := Load(ctx, c.Blocks, Shared, content); err != nil || !bytes.Equal(back, b) {
			t.Errorf("%d bytes: %v", n, err)
		}
		for _, wrong := range []func(*Content){
			func(c *Content) { c.Sum[3]++ },
			func(c *Content) { c.Bytes++ },
			func(c *Content) { c.Blocks = append(c.Blocks, SumOf([]byte("no"))) },
			func(c *Content) { c.Blocks = append([]Sum{}, append(c.Blocks, c.Blocks...)...) },
		} {
			other := content
			wrong(&other)
			if _, err := Load(ctx, c.Blocks, Shared, other); err == nil && other.Sum == content.Sum && n > 0 || err == nil && other.Sum != content.Sum {
				t.Errorf("%d bytes: %v is loaded", n, other)
			}
		}
	}
	if err := c.Blocks.Put(ctx, Shared, Sum{}, make([]byte, MaxBlock+1)); !errors.Is(err, ErrFull) {
		t.Errorf("a block that is too large: %v", err)
	}
}

// lostReply are values whose reply to every swap is lost; the second try finds that the value has changed.
type lostReply struct{ Values }

func (s lostReply) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if _, err := s.Values.Swap(ctx, key, value, revision); err != nil {
		return 0, err
	}
	return s.Values.Swap(ctx, key, value, revision)
}

// TestLostReply: a worker whose own write comes back as a conflict is no zombie.
func TestLostReply(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(3)
		lossy := c
		lossy.Values = lostReply{c.Values}
		go worker(lossy, "w", work.work).Run(ctx)
		if err := collect(t, c, tasks(2), work); err != nil {
			t.Error(err)
		}
		if made := work.made(0); len(made) != 3 {
			t.Errorf("steps %v", made)
		}
	})
}
