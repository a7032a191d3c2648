package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/starling-smc/starling/internal/testkit"
)

// browser finds a Chromium: STARLING_CHROMIUM, or one on the path.
func browser(t *testing.T) string {
	if path := os.Getenv("STARLING_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here: install one, or name one in STARLING_CHROMIUM, to load pages in a browser")
	return ""
}

// TestBrowser loads pages in a headless Chromium: from a phone to a desk, light and dark, and for print. There must be no
// message on the console, no exception, no request but for the file itself, and nothing wider than the window.
func TestBrowser(t *testing.T) {
	path := browser(t)
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()

	var turn sync.Mutex
	var heard, asked []string
	err := chromedp.Listen(ctx, func(event any) {
		turn.Lock()
		defer turn.Unlock()
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			heard = append(heard, fmt.Sprintf("console.%s", e.Type))
		case *runtime.EventExceptionThrown:
			heard = append(heard, "exception: "+e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			heard = append(heard, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "data:") {
				asked = append(asked, e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatalf("the browser %s does not start: %v", path, err)
	}
	for _, enable := range []func() error{
		func() error { _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); return err },
		func() error { _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); return err },
		func() error { _, err := chromedp.Call(ctx, runtime.Enable, cdp.Empty{}); return err },
	} {
		if err := enable(); err != nil {
			t.Fatal(err)
		}
	}
	for name, page := range pages(t) {
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, page, 0o666); err != nil {
			t.Fatal(err)
		}
		for medium, widths := range map[string][]int64{"screen": {375, 768, 1280}, "print": {paper}} {
			for _, scheme := range []string{"light", "dark"} {
				for _, width := range widths {
					at := fmt.Sprintf("%s, %s, %s, %d pixels", name, medium, scheme, width)
					heard, asked = nil, nil
					_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
						Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
					})
					if err == nil {
						err = chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate("file://"+file))
					}
					if err != nil {
						t.Fatalf("%s: %v", at, err)
					}
					found, err := chromedp.Run(ctx, chromedp.Evaluate[layout](measure))
					if err != nil {
						t.Fatalf("%s: %v", at, err)
					}
					turn.Lock()
					if len(heard) > 0 {
						t.Errorf("%s: %q", at, heard)
					}
					if len(asked) != 1 || !strings.HasPrefix(asked[0], "file:///") {
						t.Errorf("%s: requests for %q", at, asked)
					}
					turn.Unlock()
					if found.Scroll > found.Inner || found.Inner != width {
						t.Errorf("%s: the page is %d wide in a window of %d: %s", at, found.Scroll, found.Inner, found.Wide)
					}
					if dark := scheme == "dark" && medium == "screen"; dark == (found.Paper == "rgb(255, 255, 255)") {
						t.Errorf("%s: the paper is %s", at, found.Paper)
					}
					if found.Small != "" {
						t.Errorf("%s: text of less than 9 pixels: %s", at, found.Small)
					}
					if found.Over != "" {
						t.Errorf("%s: a cell beyond its column, squeezed, or a number in two lines: %s", at, found.Over)
					}
					if found.Silent != "" {
						t.Errorf("%s: it scrolls, and no shadow shows that: %s", at, found.Silent)
					}
					if found.Sum != "" {
						t.Errorf("%s: a checksum beyond the window, or broken without need: %s", at, found.Sum)
					}
					if found.Cut != "" {
						t.Errorf("%s: text beyond its picture: %s", at, found.Cut)
					}
				}
			}
		}
	}
}

const paper = 688 // pixels of A4 between the margins of the style sheet

// layout is what measure finds.
type layout struct {
	Scroll, Inner    int64
	Paper            string
	Wide, Small, Cut string // the first that is wider than the window, too small to read, beyond its picture
	Silent, Sum      string // the first that scrolls without a shadow, the first checksum that has to be scrolled to, or is broken without need
	Over             string // the first cell of a table that is not too wide for paper that is cut, squeezed or broken
}

const measure = `(() => {
	const inner = window.innerWidth, all = [...document.querySelectorAll("body *")];
	const wide = all.find(e => !e.closest(".scroll, pre, svg") && e.getBoundingClientRect().right > inner + 1);
	const texts = [...document.querySelectorAll("svg.chart text")];
	const small = texts.find(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a < 9);
	const cut = texts.find(e => {
		const t = e.getBoundingClientRect(), s = e.closest("svg").getBoundingClientRect();
		return t.left < s.left - 1 || t.right > s.right + 1 || t.top < s.top - 1 || t.bottom > s.bottom + 1;
	});
	const over = [...document.querySelectorAll("tr:not(:has(:nth-child(13))) :is(th, td:not(.word))")].find(e => {
		const range = document.createRange();
		range.selectNodeContents(e);
		return e.scrollWidth > e.clientWidth + 1 || e.textContent.trim().length > 4 && e.clientWidth > 0 && e.clientWidth < 24 ||
			e.matches("td") && range.getClientRects().length > 1 && !e.querySelector("*");
	});
	const silent = [...document.querySelectorAll(".scroll, pre")].find(e => {
		const s = getComputedStyle(e), kinds = s.backgroundAttachment.split(", ").join(" ");
		return e.scrollWidth > e.clientWidth && s.overflowX != "visible" &&
			(s.backgroundImage.split("linear-gradient").length != 5 || !kinds.startsWith("local local scroll scroll"));
	});
	const sum = [...document.querySelectorAll("td, dd")].find(e =>
		/[0-9a-f]{64}/.test(e.textContent) && (e.getBoundingClientRect().right > inner + 1 || e.matches("td") && e.clientHeight > 60 && inner > 1000));
	const name = e => e ? e.outerHTML.slice(0, 200) : "";
	return {Scroll: document.scrollingElement.scrollWidth, Inner: inner, Paper: getComputedStyle(document.body).backgroundColor,
		Wide: name(wide), Small: name(small), Cut: name(cut), Silent: name(silent), Sum: name(sum), Over: name(over)};
})()`

// pages are what the browser loads: runs of classes and of values, of names that break layouts, and a comparison.
func pages(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	for _, s := range shapes {
		switch s.name {
		case "images", "colours", hostile, "many islands", "regression", "two outputs", "wide", "undefined", "decides":
			all[s.name] = []byte(render(t, s.make(t)))
		}
	}
	c, err := comparison(t, shape{groups: []string{"far"}}, shape{groups: []string{"far"}, n: 62})
	if err != nil {
		t.Fatal(err)
	}
	c.Runs[0].Name = strings.Repeat("a-long-name-", 8)
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	all["comparison"] = b.Bytes()
	if c, err = NewComparison(seeded(t)); err != nil {
		t.Fatal(err)
	}
	var seeds bytes.Buffer
	if err := c.Write(&seeds); err != nil {
		t.Fatal(err)
	}
	all["seeds"] = seeds.Bytes()
	all["schedules"] = compared(t, schedules())
	filtered := filterPages()
	for _, name := range []string{"crossing", "walk", "hostile"} {
		all["filter, "+name] = []byte(filterPage(t, filtered[name]))
	}
	return all
}
