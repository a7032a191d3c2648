package main

import (
	"fmt"
	"image"
	"os"

	"golang.org/x/image/webp"
)

// side is the height and the width of a tile.
const side = 32

// tiles reads n images from a file that has them as tiles of a grid, row by row: of each image its channels, and of these the rows.
func tiles(file string, n int) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	grid, err := webp.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	images, err := cut(grid, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return images, nil
}

// cut takes n tiles from a grid. Pixels must be opaque, as those of the packed images are.
func cut(grid image.Image, n int) ([]byte, error) {
	size, across := grid.Bounds().Size(), grid.Bounds().Dx()/side
	if size.X%side != 0 || size.Y%side != 0 || across*(size.Y/side) < n {
		return nil, fmt.Errorf("a picture of %d×%d pixels, want a grid of %d tiles of %d×%d", size.X, size.Y, n, side, side)
	}
	images := make([]byte, 0, n*3*side*side)
	for i := range n {
		corner := grid.Bounds().Min.Add(image.Pt(i%across, i/across).Mul(side))
		for channel := range 3 {
			for y := range side {
				for x := range side {
					r, g, b, a := grid.At(corner.X+x, corner.Y+y).RGBA()
					if a != 0xffff {
						return nil, fmt.Errorf("tile %d is transparent in row %d, column %d", i, y, x)
					}
					images = append(images, byte([3]uint32{r, g, b}[channel]>>8))
				}
			}
		}
	}
	return images, nil
}
