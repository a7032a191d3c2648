package nn

import (
	"cmp"
	"math"
	"slices"
)

// fewTasks is the number of tasks for each thread below which shares are cut to equal lengths. With more tasks, the threads end
// at about the same time whatever they take.
const fewTasks = 6

// piece is a range of tiles of a task. A task that several threads work on is cut into pieces, one after the other: a piece
// continues the sums of the piece before it, so that the order of additions is that of the whole task.
type piece struct {
	block, segment int
	from, to       int           // tiles of the segment
	before, after  chan *partial // the sums come from one piece and go to the next; nil for the first, and for the last
}

// shares divides the tiles of a call. The pieces of a share are worked on one after the other, by one thread.
//
// Many tasks are a share each. Few tasks, as the five chunks of one chain with 1,200 examples, are laid end to end and cut
// into a share of equal length for each thread (McNaughton 1959), to the nearest tile: on two threads 9 and 9.75 tiles in place of
// 10.75 and 8. Each thread begins with the piece whose sums another thread needs and ends with the piece that needs another's,
// which is ready by then. A share needs only sums of the share before it, which begins no later, so no thread waits in vain.
func (r *reduction) shares() [][]piece {
	tasks, threads := len(r.next)*r.segments, r.m.pool.Threads()
	even := tasks < fewTasks*threads
	n := tasks
	if even {
		n = min(threads, tasks)
	}
	shares := make([][]piece, n)
	total, done, share := len(r.next)*r.n, 0, 0 // examples
	room := func() int {                        // tiles that the share has room for; any number in the last one
		if share == n-1 {
			return math.MaxInt
		}
		return ((share+1)*total/n - done + tileExamples/2) / tileExamples
	}
	for i := range tasks {
		p := piece{block: i / r.segments, segment: i % r.segments}
		begin := p.segment * r.tiles * tileExamples
		examples := min(r.n-begin, r.tiles*tileExamples)
		size := (examples + tileExamples - 1) / tileExamples
		for p.to < size {
			p.from, p.before, p.after = p.to, p.after, nil
			p.to = size
			if most := max(1, room()); even && size-p.from > most {
				p.to, p.after = p.from+most, make(chan *partial, 1)
			}
			shares[share] = append(shares[share], p)
			done += min(p.to*tileExamples, examples) - p.from*tileExamples
			if !even || room() == 0 {
				share++
			}
		}
	}
	for _, pieces := range shares {
		slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.turn(), b.turn()) })
	}
	return shares
}

// turn is when a piece has its turn within a share.
func (p piece) turn() int {
	switch {
	case p.after != nil:
		return 0
	case p.before != nil:
		return 2
	}
	return 1
}
