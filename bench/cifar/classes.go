package main

// none is the label of an image that shows none of the classes of CIFAR-10.
const none = 10

// shown are the classes of ImageNet (ILSVRC 2012, from 0 in the usual order) that are classes of CIFAR-10, from first to last. The
// class deer is none of them; horses have one breed. Aircraft that are no aeroplanes, vehicles between a car and a truck such as buses, and
// animals that only look like one of the ten, are left out.
var shown = []struct {
	class       byte
	first, last int
}{
	{0, 404, 404}, {0, 895, 895}, // airliner, warplane
	{1, 436, 436}, {1, 468, 468}, {1, 511, 511}, {1, 609, 609}, {1, 627, 627}, {1, 656, 656}, {1, 661, 661}, {1, 751, 751}, {1, 817, 817}, // beach wagon, cab, convertible, jeep, limousine, minivan, Model T, racer, sports car
	{2, 7, 24}, {2, 80, 100}, {2, 127, 146}, // cock to great grey owl, black grouse to black swan, white stork to albatross
	{3, 281, 285},                                                                                                                                                       // tabby to Egyptian cat
	{5, 151, 268},                                                                                                                                                       // Chihuahua to Mexican hairless
	{6, 30, 32},                                                                                                                                                         // bullfrog, tree frog, tailed frog
	{7, 339, 339},                                                                                                                                                       // sorrel
	{8, 403, 403}, {8, 484, 484}, {8, 510, 510}, {8, 554, 554}, {8, 625, 625}, {8, 628, 628}, {8, 724, 724}, {8, 780, 780}, {8, 814, 814}, {8, 871, 871}, {8, 914, 914}, // aircraft carrier, catamaran, container ship, fireboat, lifeboat, liner, pirate, schooner, speedboat, trimaran, yawl
	{9, 555, 555}, {9, 569, 569}, {9, 675, 675}, {9, 717, 717}, {9, 864, 864}, {9, 867, 867}, // fire engine, garbage truck, moving van, pickup, tow truck, trailer truck
}

// classOf is the class of CIFAR-10 that a class of ImageNet is, or none.
func classOf(imagenet int) byte {
	for _, s := range shown {
		if imagenet >= s.first && imagenet <= s.last {
			return s.class
		}
	}
	return none
}
