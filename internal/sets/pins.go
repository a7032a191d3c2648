package sets

// pin is the known size and checksum of a file of a data set.
type pin struct {
	file string // below the data directory; of a built-in set, within the program
	size int64  // in bytes; of a gzip file, after unpacking, so that any packing of the same bytes is right. 0 for a table
	sum  string // SHA-256 of the same bytes; for a table, Table.canonical
}

// inFolder pins the files of a folder.
func inFolder(folder string, files ...pin) []pin {
	for i := range files {
		files[i].file = folder + "/" + files[i].file
	}
	return files
}

// pins of the known data sets. The sums of MNIST, FashionMNIST, CIFAR-10 and the tables were computed from the files. The
// files of MNIST and FashionMNIST also have the MD5 sums that their authors publish, for MNIST those of the unpacked files.
// The sums of CIFAR-10 and CIFAR-100 come from torchvision for Ruby (ankane); only those of CIFAR-10 were confirmed by the
// files.
var pins = map[string][]pin{
	"california": {{file: "uci/california.csv", sum: "0fc1b40da549f1d8e8164298355a172229892426d7aa71d77bf15e08a10f4b79"}},
	"cifar10": inFolder("cifar10",
		pin{file: "data_batch_1.bin", size: 30730000, sum: "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
		pin{file: "data_batch_2.bin", size: 30730000, sum: "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
		pin{file: "data_batch_3.bin", size: 30730000, sum: "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
		pin{file: "data_batch_4.bin", size: 30730000, sum: "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
		pin{file: "data_batch_5.bin", size: 30730000, sum: "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
		pin{file: "test_batch.bin", size: 30730000, sum: "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"},
	),
	"cifar100": inFolder("cifar100",
		pin{file: "train.bin", size: 153700000, sum: "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29"},
		pin{file: "test.bin", size: 30740000, sum: "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a"},
	),
	"concrete": {{file: "uci/concrete.csv.gz", size: 48701, sum: "a7b551df57aaa38ccb9cb7cd1e4e3863a94de25a7192e783cb9d3f061412e162"}},
	"fashion-mnist": inFolder("fashion-mnist",
		pin{file: mnistFiles[0], size: 47040016, sum: "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
		pin{file: mnistFiles[1], size: 60008, sum: "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
		pin{file: mnistFiles[2], size: 7840016, sum: "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
		pin{file: mnistFiles[3], size: 10008, sum: "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
	),
	"mnist": inFolder("mnist",
		pin{file: mnistFiles[0], size: 47040016, sum: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
		pin{file: mnistFiles[1], size: 60008, sum: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
		pin{file: mnistFiles[2], size: 7840016, sum: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
		pin{file: mnistFiles[3], size: 10008, sum: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
	),
	"mnist7": inFolder("mnist7",
		pin{file: mnistFiles[0], size: 3449616, sum: "a31b795c767e2c32a90bf906732153ad766dade5e577b6c5815043adab7aa36c"},
		pin{file: mnistFiles[1], size: 4408, sum: "759f6c55780bd26b98816611147952d99be781db54c78befdd67f505dc4193e2"},
		pin{file: mnistFiles[2], size: 6272016, sum: "e57a5891ba07b3617078adebbab4ce39aeb723a5eb23069f81fc7e8aeb4bc41e"},
		pin{file: mnistFiles[3], size: 8008, sum: "c7e59dda0affab43fd30fd19d51fe368f614cc708882f4706727fab2f4c17ea2"},
	),
	"naval":                  {{file: "uci/naval.csv", sum: "abbc289665af40c928ab970679dc8e3acac42934d5a4a26c1169af6e368da6a1"}},
	"pima":                   {{file: "uci/pima.csv", sum: "fb921ad6e7a338044c272cede111fa19a433b9cc86e41a0347e83753869a19b5"}},
	"tinyshakespeare":        {shakespeareFile},
	"tinyshakespeare-update": {shakespeareFile},
	"wine-red":               {{file: "uci/wine-red.csv.gz", size: 84199, sum: "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e"}},
	"wine-white":             {{file: "uci/wine-white.csv.gz", size: 264426, sum: "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836"}},
	"yacht":                  {{file: "uci/yacht.csv.gz", size: 11528, sum: "ec5e975033e1fcb48dd1284c684a2a98e8d58b59b3bf915656630c113a874685"}},
}

// shakespeareFile is the text of two sets.
var shakespeareFile = pin{file: "tinyshakespeare/input.txt", size: 1115394, sum: "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"}

// download is a file that can be downloaded.
type download struct {
	file   string // below the data directory
	folder string // of a tar.gz archive: the folder inside it with the set's files; the archive is removed after unpacking. Else empty
	Remote
}

// downloads of the known data sets. FashionMNIST's sums were taken from the files; those of MNIST's packed files and of
// both archives are what TensorFlow Datasets (url_checksums) and torchvision for Ruby agree on.
var downloads = map[string][]download{
	"cifar10": {{"cifar10/.cifar-10-binary.tar.gz", "cifar-10-batches-bin", Remote{
		URLs: []string{"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"},
		Size: 170052171, SHA256: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
	}}},
	"cifar100": {{"cifar100/.cifar-100-binary.tar.gz", "cifar-100-binary", Remote{
		URLs: []string{"https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz"},
		Size: 168513733, SHA256: "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
	}}},
	"fashion-mnist": plain("fashion-mnist",
		[]string{"https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"},
		Remote{Size: 26421880, SHA256: "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
		Remote{Size: 29515, SHA256: "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
		Remote{Size: 4422102, SHA256: "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
		Remote{Size: 5148, SHA256: "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"},
	),
	"mnist": plain("mnist",
		[]string{"https://storage.googleapis.com/cvdf-datasets/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/"},
		Remote{Size: 9912422, SHA256: "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
		Remote{Size: 28881, SHA256: "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
		Remote{Size: 1648877, SHA256: "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
		Remote{Size: 4542, SHA256: "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
	),
	"tinyshakespeare":        {shakespeareText},
	"tinyshakespeare-update": {shakespeareText},
}

// shakespeareText is where the text of two sets is from.
var shakespeareText = download{file: shakespeareFile.file, Remote: Remote{
	URLs: []string{"https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"}, Size: shakespeareFile.size, SHA256: shakespeareFile.sum,
}}

// plain lists MNIST's four files. addresses are the servers' addresses, below which the files lie.
func plain(folder string, servers []string, files ...Remote) []download {
	list := make([]download, len(files))
	for i, f := range files {
		for _, s := range servers {
			f.URLs = append(f.URLs, s+mnistFiles[i])
		}
		list[i] = download{file: folder + "/" + mnistFiles[i], Remote: f}
	}
	return list
}

// Remote is a file of known content that servers have.
type Remote struct {
	URLs   []string // each gives the same bytes
	Size   int64
	SHA256 string // in hexadecimal
}

// mnistFiles are the names that the files of MNIST and FashionMNIST always have.
var mnistFiles = [4]string{
	"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
	"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz",
}

// partial is the suffix of a file that is not yet whole.
const partial = ".part"
