package formats

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/keys"
)

// A yamlValue is a value of a generated document.
type yamlValue struct {
	scalar string
	list   []*yamlValue
	keys   []string // of a mapping
	values []*yamlValue
	before string // a tag or an anchor
	merge  string // an entry of a mapping, "" or with what follows it
}

func (v *yamlValue) write(b *strings.Builder) {
	b.WriteString(v.before)
	switch {
	case v.list != nil:
		b.WriteString("[")
		for i, item := range v.list {
			if i > 0 {
				b.WriteString(", ")
			}
			item.write(b)
		}
		b.WriteString("]")
	case v.keys != nil:
		b.WriteString("{" + v.merge)
		for i, key := range v.keys {
			b.WriteString(key + ": ")
			v.values[i].write(b)
			b.WriteString(", ")
		}
		b.WriteString("}")
	default:
		b.WriteString(v.scalar)
	}
}

func (v *yamlValue) all() []*yamlValue {
	found := []*yamlValue{v}
	for _, inner := range append(v.list, v.values...) {
		found = append(found, inner.all()...)
	}
	return found
}

func randomPod(random *rand.Rand, depth int) *yamlValue {
	pick := func(list ...string) *yamlValue { return &yamlValue{scalar: list[random.IntN(len(list))]} }
	pod := &yamlValue{keys: []string{"kind"}, values: []*yamlValue{pick("Pod", "Job", "List", "PodList", "AllowList")}}
	add := func(percent int, key string, value *yamlValue) {
		if random.IntN(100) < percent {
			pod.keys, pod.values = append(pod.keys, key), append(pod.values, value)
		}
	}
	add(70, "apiVersion", pick("v1"))
	if items := (&yamlValue{}); depth > 0 {
		for range 1 + random.IntN(2) {
			items.list = append(items.list, randomPod(random, depth-1))
		}
		add(60, "items", items)
	}
	container := func() *yamlValue {
		return &yamlValue{keys: []string{"x"}, values: []*yamlValue{pick("true", "false", "'true'", ".nan", "~")}}
	}
	containers := &yamlValue{list: []*yamlValue{container(), container()}}
	add(80, "spec", &yamlValue{keys: []string{"c", "y"}, values: []*yamlValue{containers, pick("true", "1")}})
	random.Shuffle(len(pod.keys), func(i, j int) {
		pod.keys[i], pod.keys[j] = pod.keys[j], pod.keys[i]
		pod.values[i], pod.values[j] = pod.values[j], pod.values[i]
	})
	return pod
}

// TestAddedPropertiesHideNothing: a tag, an anchor or a merge that is added somewhere never makes a broken item hold.
func TestAddedPropertiesHideNothing(t *testing.T) {
	path := func(text string) []keyitem.Path {
		p, err := keyitem.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		return []keyitem.Path{p}
	}
	isTrue := []keyitem.Value{{Kind: keyitem.BoolValue, Text: "true"}}
	isPod := []keyitem.Value{{Kind: keyitem.TextValue, Text: "Pod"}}
	var items []*keyitem.Item
	for _, key := range []string{"spec.c.x", "**.x", "spec.*", "spec.y", "items.spec.y"} {
		for _, asks := range []keyitem.Asks{keyitem.Exists, keyitem.Is} {
			item := keyitem.Item{Paths: path(key), Condition: keyitem.Condition{Asks: asks, Values: isTrue}}
			where := item
			where.Where = []keyitem.At{{
				Path: path("kind")[0], Condition: keyitem.Condition{Asks: keyitem.Is, Values: isPod},
			}}
			items = append(items, &item, &where)
		}
	}
	for _, each := range []string{"spec.c", "**.c", "spec", "*"} {
		items = append(items, &keyitem.Item{Each: path(each), Paths: path("x"),
			Condition: keyitem.Condition{Asks: keyitem.Is, Values: isTrue}})
	}
	random := rand.New(rand.NewPCG(7, 8))
	broken, rounds := 0, 600
	if *long {
		rounds *= 5
	}
	for range rounds {
		root := randomPod(random, 2)
		if random.IntN(4) == 0 {
			root = &yamlValue{list: []*yamlValue{root, randomPod(random, 1)}}
		}
		text := func() string { var b strings.Builder; root.write(&b); return b.String() }
		plain := text()
		before, err := Parse(YAML, []byte(plain), Limits())
		if err != nil {
			t.Fatalf("%s: %v", plain, err)
		}
		all := root.all()
		at := all[random.IntN(len(all))]
		if at.scalar == "~" {
			continue // a tag makes a text of it
		}
		properties := []string{"!x ", "&a ", "!!omap ", "!!seq ", "!!map ", "!!str ", "! ", "!<tag:x> &b "}
		at.before = properties[random.IntN(len(properties))]
		if at.keys != nil && random.IntN(2) == 0 {
			key := at.keys[random.IntN(len(at.keys))] // which hides the one that the merge brings
			merges := []string{"<<: {zz: 1}, ", "<<: !x {zz: 1}, "}
			for _, value := range []string{"[]", "Job", "{y: 2}", "[{kind: Job}]", "~"} {
				merges = append(merges, "<<: {"+key+": "+value+"}, ", "<<: [{"+key+": "+value+"}], ")
			}
			at.before, at.merge = "", merges[random.IntN(len(merges))]
		}
		after, err := Parse(YAML, []byte(text()), Limits())
		if err != nil {
			continue // undecided
		}
		for _, item := range items {
			for what, find := range map[string]func(*keyitem.Item, []keys.Document) []keys.Hit{
				"forbidden": keys.Forbidden, "required": keys.Required,
			} {
				if len(item.Each) > 0 && what == "forbidden" || len(find(item, before)) == 0 {
					continue
				}
				broken++
				if len(find(item, after)) == 0 {
					t.Fatalf("%s %+v is broken in\n%s\nand holds in\n%s", what, *item, plain, text())
				}
			}
		}
	}
	if broken < 6*rounds {
		t.Errorf("only %d broken items", broken)
	}
}
