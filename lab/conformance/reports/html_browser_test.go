package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"golang.org/x/tools/txtar"

	"github.com/policyscan/policyscan/lab/conformance/install"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

var (
	startBrowser sync.Once
	browser      context.Context
	closeBrowser = func() {}
)

// newBrowser returns Chromium, from Debian's package of that name. All tests share it, each with its own tabs.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	startBrowser.Do(func() {
		install.Debian(t, "chromium", "chromium")
		opts := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath("chromium"), chromedp.UserDataDir(install.Dir("chromium")), chromedp.NoSandbox,
			chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
		allocator, closeAll := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, cancel := chromedp.NewContext(allocator)
		closeBrowser = func() { cancel(); closeAll() }
		if err := chromedp.Do(ctx); err != nil {
			t.Fatal(err)
		}
		browser = ctx
	})
	if browser == nil {
		t.Fatal("Chromium did not start")
	}
	return browser
}

// A tab is a page of the browser, and all that it did besides showing what it was given.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	address  string
	requests []string // except for the page itself
	noise    []string // of the console, exceptions, dialogs
}

// A view is how a page is looked at.
type view struct {
	width, height int64
	dark, print   bool
	noScript      bool
}

var desk, phone = view{width: 1280, height: 900}, view{width: 360, height: 740}

// open opens the html report of a verdict, at a place of it, in its own tab; no
// verdict is no page yet.
func open(t *testing.T, browser context.Context, v *verdict.Verdict, hash string, how view) *tab {
	t.Helper()
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithListener(func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			if e.Request.URL != b.address {
				b.requests = append(b.requests, e.Request.URL)
			}
		case *log.EventEntryAdded:
			b.noise = append(b.noise, fmt.Sprintf("log: %s %s", e.Entry.Level, e.Entry.Text))
		case *runtime.EventConsoleAPICalled:
			b.noise = append(b.noise, fmt.Sprintf("console: %s", e.Type))
		case *runtime.EventExceptionThrown:
			b.noise = append(b.noise, fmt.Sprintf("exception: %v", e.ExceptionDetails))
		case *page.EventJavascriptDialogOpening:
			b.noise = append(b.noise, "dialog: "+e.Message)
		}
	}))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b.ctx = ctx
	scheme := "light"
	if how.dark {
		scheme = "dark"
	}
	medium := "screen"
	if how.print {
		medium = "print"
	}
	b.do(
		call(network.Enable, network.EnableParams{}),
		call(log.Enable, cdp.Empty{}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
		call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: how.noScript}),
		chromedp.EmulateViewport(how.width, how.height),
		call(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			window.refused = [];
			document.addEventListener("securitypolicyviolation", (e) => refused.push(e.violatedDirective + " " + e.blockedURI));`}),
	)
	if v != nil {
		b.show(v, hash)
	}
	return b
}

// show writes the html report of a verdict and goes there.
func (b *tab) show(v *verdict.Verdict, hash string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	w, err := os.Create(file)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := report.Named("html").Naming("shop").Write(w, v); err != nil {
		b.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	b.address = (&url.URL{Scheme: "file", Path: file}).String()
	b.mu.Unlock()
	b.do(chromedp.Navigate(b.address + hash))
}

// layOutAll has all of the page laid out, also what is out of sight.
func (b *tab) layOutAll() {
	b.t.Helper()
	eval[any](b, `{const s = new CSSStyleSheet(); s.replaceSync("* { content-visibility: visible !important }"); document.adoptedStyleSheets = [s];}`)
}

// busy is how long the page's main thread has been at work, in milliseconds.
func (b *tab) busy() float64 {
	b.t.Helper()
	r, err := chromedp.Run(b.ctx, chromedp.Action[performance.GetMetricsResult](func(ctx context.Context, t *chromedp.Target) (performance.GetMetricsResult, error) {
		return cdp.Call(ctx, t, performance.GetMetrics, cdp.Empty{})
	}))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range r.Metrics {
		if m.Name == "TaskDuration" {
			return 1000 * m.Value
		}
	}
	b.t.Fatal("the browser does not say how long it worked")
	return 0
}

// call is a command of the browser's protocol as a step.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what an expression of JavaScript says, or what it promises.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// until waits for an expression to be true.
func (b *tab) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, "Boolean("+expression+")") {
			return
		}
	}
	b.t.Fatalf("it never came to be: %s", expression)
}

func (b *tab) keys(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// quiet fails if the page asked for anything, said anything or was refused anything.
func (b *tab) quiet() {
	b.t.Helper()
	refused := eval[[]string](b, "window.refused")
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests)+len(b.noise)+len(refused) > 0 {
		b.t.Errorf("requests %q, noise %q, refused %q", b.requests, b.noise, refused)
	}
}

// visible returns the ids of the violations that are shown, sorted: each is at its first place.
func (b *tab) visible() []string {
	b.t.Helper()
	return eval[[]string](b, `[...document.querySelectorAll("#groups > section:not([hidden]) .in:not([hidden]) li:not([hidden])")].map((li) => li.id).filter(Boolean).sort()`)
}

// quoted is a text as JavaScript writes it.
func quoted(s string) string {
	text, _ := json.Marshal(s) // a string can always be
	return strings.ReplaceAll(string(text), "</", `<\/`)
}

// infrastructure is the tree of a small shop that breaks most of its rules, some in many
// places.
func infrastructure(t *testing.T) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/shop.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	for i, name := range strings.Fields("cart catalog checkout images mailer orders payments search") {
		file := "k8s/" + name + "/deployment.yaml"
		files[file] = fmt.Sprintf("kind: Deployment\nmetadata:\n  name: %s\nspec:\n  template:\n    spec:\n      containers:\n        - name: %s\n          image: registry.example.com/shop/%s:latest\n", name, name, name)
		if i%3 == 0 {
			files[file] += "          securityContext:\n            privileged: true\n"
		}
		if i%4 == 1 {
			files[file] += "      hostNetwork: true\n"
		}
		user := "app"
		if i%3 == 1 {
			user = "root"
		}
		files["services/"+name+"/Dockerfile"] = "FROM debian:12\nUSER " + user + "\n"
	}
	for i, name := range strings.Fields("bastion edge database cache queue storefront") {
		file := "terraform/modules/" + name + "/main.tf"
		files[file] = fmt.Sprintf("resource \"aws_security_group\" %q {\n  name = %q\n\n  ingress {\n    from_port   = 443\n    to_port     = 443\n    protocol    = \"tcp\"\n    cidr_blocks = [\"0.0.0.0/0\"] # %s\n  }\n}\n", name, name, "temporary, see the ticket of the migration")
		if i%2 == 0 {
			files[file] += "\nresource \"aws_security_group_rule\" \"v6\" {\n  ipv6_cidr_blocks = [\"::/0\"]\n  cidr_blocks      = [\"0.0.0.0/0\"]\n}\n"
		}
		if i%2 == 1 {
			files[file] += "\nresource \"aws_ebs_volume\" \"data\" {\n  encrypted = false\n}\n"
		}
		files["terraform/environments/"+name+"-staging.tfvars"] = "admin_ranges = [\"10.0.0.0/8\"]\n"
		files["terraform/environments/"+name+"-prod.tfvars"] = "public_ranges = [\"0.0.0.0/0\"]\n"
	}
	files["terraform/environments/edge-staging.tfvars"] += "public_ranges = [\"0.0.0.0/0\"]\n"
	return files
}

// many is a verdict of n violations, made from one of a real run.
func many(t *testing.T, like *verdict.Verdict, n int) *verdict.Verdict {
	t.Helper()
	v := *like
	v.Violations = nil
	for i := range n {
		x := like.Violations[i*len(like.Violations)/n]
		x.File = fmt.Sprintf("region-%02d/stack-%02d/%s", i%17, i%5, x.File)
		x.Evidence.Line = int64(i%900 + 1)
		x.Fingerprint = verdict.Fingerprint(x.RuleID, x.File, x.Evidence.Pattern, []byte(fmt.Sprint(i)))
		v.Violations = append(v.Violations, x)
	}
	v.Coverage.Files, v.Coverage.Governed, v.Coverage.Scanned = 4*n, 2*n, 2*n
	v.Decide()
	return &v
}
