package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
)

func newDataPad() *cobra.Command {
	var (
		dir, out, side string
		channels       int
		force, jsonOut bool
	)
	cmd := &cobra.Command{
		Use:   "pad FILE|SET --size HxW [--channels C] --out FILE",
		Short: "Pad images to the size that a network takes",
		Long: `Pad writes the images of a file, NPY or IDX, or the test images of a data set as an NPY of the height and width that --size
names: zeros, which are black, around each image, and the image in the middle. With --channels the one channel of grey
images is repeated, as grey is shown in RGB. Images are not cut or scaled.

So MNIST becomes out-of-distribution inputs of a network of CIFAR images, which are 32×32 in RGB. Bytes stay bytes, and other
numbers become float32. The order of the images stays, so that their file of labels fits the new file.`,
		Example: `  starling data pad images.npy --size 32x32 --channels 3 --out rgb-32.npy
  starling data pad fashion-mnist --size 32x32 --out fashion-32.npy
  starling evaluate runs/cifar --ood rgb-32.npy`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			names, _ := setNames(cmd, args, typed)
			return names, cobra.ShellCompDirectiveDefault // files too
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := padding(side, channels, cmd.Flags().Changed("channels"))
			if err != nil {
				return err
			}
			if err := checkPadded(args[0], out, force); err != nil {
				return err
			}
			var shape []int
			var bad error // of the images, without the words of ckpt.Replace about out
			err = ckpt.Replace(out, "", func(w io.Writer) error {
				b := bufio.NewWriter(w)
				if shape, bad = p.Write(b, args[0], dir); bad != nil {
					return bad
				}
				return b.Flush()
			})
			switch {
			case errors.As(bad, new(*data.FieldError)):
				return usageError{bad}
			case bad != nil:
				return &starling.DataError{Err: bad}
			case err != nil:
				return err
			}
			if jsonOut {
				return jsontext.Write(cmd.OutOrStdout(), map[string]any{"shape": shape, "out": out})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "images of %s padded to %s, written to %s\n", filepath.Base(args[0]), dimensions(shape), out)
			return err
		},
	}
	cmd.Flags().StringVar(&side, "size", "", "`HxW`: the height and width of the new images, such as 32x32")
	cmd.Flags().IntVar(&channels, "channels", 0, "repeat the channel of grey images as `C` channels (default: the channels stay)")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` of the new images: .npy")
	forced(cmd, &force)
	dataDir(cmd, &dir)
	asJSON(cmd, &jsonOut)
	return cmd
}

// imageSize is the form of --size.
var imageSize = regexp.MustCompile(`^([1-9][0-9]{0,5})[x×]([1-9][0-9]{0,5})$`)

// padding reads --size and --channels.
func padding(size string, channels int, changed bool) (p data.Padding, err error) {
	m := imageSize.FindStringSubmatch(strings.ToLower(size))
	switch {
	case size == "":
		return p, wrongUse("say which size the network takes: --size HxW, as in --size 32x32")
	case m == nil:
		return p, wrongUse("--size %q: want the height and the width of an image, as in 32x32", size)
	case changed && channels < 1:
		return p, wrongUse("--channels %d: want a number from 1, as in --channels 3 for RGB", channels)
	}
	p.Channels = channels
	p.Height, _ = strconv.Atoi(m[1])
	p.Width, _ = strconv.Atoi(m[2])
	return p, nil
}

// checkPadded refuses a file of padded images that cannot be written, or would be lost.
func checkPadded(in, out string, force bool) error {
	switch {
	case out == "":
		return wrongUse("name the file to write: --out FILE, a .npy")
	case strings.ToLower(filepath.Ext(out)) != ".npy":
		return wrongUse("--out %s: images are written as .npy", out)
	case sameFile(in, out):
		return wrongUse("%s is the file of images: name another file to write to", out)
	}
	return checkNew("--out", out, written{"empty", func([]byte) bool { return false }}, force)
}
