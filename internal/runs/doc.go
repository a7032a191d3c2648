// Package runs saves long work in a folder while it goes on. A process that is stopped, in whatever way, loses little, and
// the resumed work ends with the same bytes. The package moves bytes; it knows no statistics and no networks.
//
// A run is a sequence of named phases. A Phase is a list of independent parts, such as restarts, islands or chains. A Part
// makes one step after another until it is done, writes itself as bytes, and is restored from bytes. The parts of a phase
// go on side by side on a pool of threads.
//
//	run, err := runs.Open(folder, config, manifest, runs.Options{})
//	…
//	err = run.Phase(ctx, workers, runs.Phase{Name: "islands", Parts: parts})
//	…
//	err = run.Close(run.Finish(files))
//
// # The folder
//
//	config.yaml           the resolved config
//	manifest.json         a Manifest; its status says whether the run is done
//	trace.jsonl           a TraceLine a line: one step of one part
//	checkpoint            the last complete state, to resume from; one that counts shards is removed with them when the run is done
//	checkpoint.previous   the state before, until the run is done
//	.lock                 there while a process has the folder; holds the process ID
//
// and the files of the result, which the Kind of the run names. A Folder belongs to one process at a time. The process takes
// it before the work begins, so a wrong name is an error at once, and two runs that start together cannot take the same
// folder.
//
// # Durability
//
// Parts are independent and their randomness is keyed, so a checkpoint may hold each part at another step, and no part
// waits for another. When a checkpoint is due, each part is packed at the end of its own step, and the last part to be packed
// writes the file. A part whose step takes longer than the interval is saved in its last packed state.
//
// A file is replaced whole: a temporary file is written, synchronised and renamed, and the folder is synchronised. The
// checkpoint before stays as checkpoint.previous; a run resumes from it if the newer one is damaged. The trace is appended
// to. It is synchronised before each checkpoint, and cut back to the checkpoint when the run is resumed. A checkpoint holds
// no times, so a run's last checkpoint has the same bytes however often the run was stopped. One section is an exception: the
// sums of the trace up to the checkpoint, whose lines have times. A run does not go on from a checkpoint whose trace has
// changed.
//
// A kind of run may say that it Streams: its traced phase is open, may have any number of steps, and its lines are on the disk alone. Lines that
// are no longer needed are removed from the beginning of the trace (Phase.First).
//
// The manifest of a run that is done has the SHA-256 of each file, and of itself. A Record compares each file that it reads. What a Kind says
// may be replaced afterwards is replaced whole, too: at any instant the folder holds the old file or the new one, and a manifest that lists
// it (Record.Replace).
//
// After a write fails, no other write is tried: a full disk stops the run and leaves the last good state. The manifest's
// status "done" is written last of all. Until then the run can be resumed. A run is resumed by the same version with the same
// config and the same inputs; otherwise it is refused, with the values that differ, and nothing in the folder is changed.
package runs
