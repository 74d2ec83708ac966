package corpora

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Why a rule and its check differ, as the page has it.
const (
	pythonBool = "`True` or `False`, which Checkov's parser takes for a boolean, and Terraform for a reference"
	noValue    = "`null` or `[]`, which is a missing attribute for Checkov, and a value for `is_not` and a key by itself"
	firstOnly  = "a block that is there twice, of which Checkov asks the first"
	bareOne    = "`1`, which equals `True` in Python"
	otherType  = "a resource of a type that the check does not name, but its test gives it"
	evaluated  = "a variable or a reference, which Checkov follows"
)

// differences are those that are known, by check and resource.
func differences() map[string]string {
	return map[string]string{
		"CKV_AWS_3 aws_ebs_volume.enabled":                          pythonBool,
		"CKV_AWS_39 aws_eks_cluster.disabled":                       pythonBool,
		"CKV_AWS_47 aws_dax_cluster.enabled":                        pythonBool,
		"CKV_GCP_29 google_storage_bucket.enabled":                  pythonBool,
		"CKV_AWS_40 aws_iam_policy_attachment.empty":                noValue,
		"CKV_AWS_40 aws_iam_policy_attachment.null":                 noValue,
		"CKV_AWS_106 aws_ebs_encryption_by_default.null":            noValue,
		"CKV_AZURE_213 azurerm_linux_web_app.pass":                  firstOnly,
		"CKV_AWS_71 aws_redshift_cluster.default":                   bareOne,
		"CKV_AWS_126 aws_launch_template.test":                      otherType,
		"CKV_AZURE_130 azurerm_mysql_server.example":                otherType,
		"CKV_AWS_88 aws_instance.public_foreach":                    evaluated,
		"CKV_AWS_88 aws_instance.public_foreach_loop":               evaluated,
		"CKV_AWS_88 aws_instance.public_foreach_loop_list_of_dicts": evaluated,
		"CKV_AWS_211 aws_db_instance.pass":                          evaluated,
		"CKV_AZURE_15 azurerm_linux_web_app.pass_tfvar":             evaluated,
		"CKV_AZURE_15 azurerm_linux_web_app.pass_tfvar2":            evaluated,
		"CKV_AZURE_228 azurerm_eventhub_namespace.pass":             evaluated,
		"CKV_AZURE_228 azurerm_eventhub_namespace.pass2":            evaluated,
	}
}

// findings are how many places each rule finds in each of some texts.
func findings(t *testing.T, rules []keyRule, texts []string) []map[string]int64 {
	t.Helper()
	files, dir := map[string]string{}, t.TempDir()
	for i, text := range texts {
		files[strconv.Itoa(i)+".tf"] = text
	}
	writeFiles(t, dir, files)
	found := make([]map[string]int64, len(texts))
	for i := range found {
		found[i] = map[string]int64{}
	}
	for _, v := range scanWith(t, dir, keyBundle(rules)).Violations {
		i, err := strconv.Atoi(strings.TrimSuffix(v.File, ".tf"))
		if err != nil {
			t.Fatal(err)
		}
		found[i][v.RuleID] += v.Evidence.Occurrences
	}
	return found
}

// TestAttributes says Checkov's checks of one attribute as rules, and compares what these find with Checkov's tests.
func TestAttributes(t *testing.T) {
	if *checkov == "" {
		t.Skip("it needs a clone of bridgecrewio/checkov: see make checkov")
	}
	checks, tests, files := readChecks(t)
	k := newKeyCases(files)
	unsaid := map[string]int{}
	var rules []keyRule
	for _, c := range checks {
		r, why := saidByKeys(c)
		if why != "" {
			unsaid[why]++
			continue
		}
		if _, ok := k.byModule[c.Module]; ok {
			t.Fatalf("%s has two checks", c.Module)
		}
		k.byModule[c.Module] = len(rules)
		rules, k.types = append(rules, r), append(k.types, c.oneType())
	}
	for _, c := range tests {
		k.add(t, c)
	}
	if *keep != "" {
		writeFiles(t, *keep, keyBundle(rules))
	}
	found := findings(t, rules, k.blocks)

	// The same resources where they are: in files with others.
	alone, together := map[string]int64{}, map[string]int64{}
	for block := range k.cut {
		for id, n := range found[block] {
			alone[id] += n
		}
	}
	for _, in := range findings(t, rules, k.whole) {
		for id, n := range in {
			together[id] += n
		}
	}
	if !maps.Equal(alone, together) {
		t.Errorf("places in resources %v\nin the files %v", alone, together)
	}

	var b strings.Builder
	head := strings.TrimSpace(git(t, *checkov, "", "rev-parse", "HEAD"))
	fmt.Fprintf(&b, "Checkov %s:\n\n| checks that compare one attribute | %d |\n|---|---|\n", head, len(checks))
	fmt.Fprintf(&b, "| as rules with keys | %d |\n", len(rules))
	for _, why := range slices.Sorted(maps.Keys(unsaid)) {
		fmt.Fprintf(&b, "| not: %s | %d |\n", why, unsaid[why])
	}
	writeAgreement(t, &b, k, rules, found)
	writePart(t, "checkov keys", b.String())
}

// writeAgreement adds how many of the cases the rules agree with, and why they do not with the others.
func writeAgreement(t *testing.T, b *strings.Builder, k *keyCases, rules []keyRule, found []map[string]int64) {
	t.Helper()
	type count struct{ all, agree int }
	counts := map[string]*[2]count{} // without variables, and with
	for _, source := range keySources() {
		counts[source] = &[2]count{}
	}
	known, met, tested := differences(), map[string]bool{}, map[int]bool{}
	explained := map[string]*[2][2]int{} // without variables and with: a check passes it, fails it
	for _, c := range k.cases {
		tested[c.check] = true
		id := rules[c.check].id
		finds := slices.ContainsFunc(c.blocks, func(block int) bool { return found[block][id] > 0 })
		of := &counts[c.source][index(c.variables)]
		of.all++
		if finds == c.fails {
			of.agree++
			continue
		}
		name := id + " " + c.resource
		why, ok := known[name]
		if !ok {
			t.Errorf("not explained: %s, which fails: %v\n%s%s", name, c.fails, k.blocks[c.blocks[0]], rules[c.check])
		}
		met[name] = true
		if explained[why] == nil {
			explained[why] = &[2][2]int{}
		}
		explained[why][index(c.variables)][index(c.fails)]++
	}
	for name := range known {
		if !met[name] {
			t.Errorf("explained, and no difference: %s", name)
		}
	}
	fmt.Fprintf(b, "| of these rules, with a test that can be read | %d |\n", len(tested))
	b.WriteString("\n| resources that tests name | agree | where there are variables | agree |\n|---|---|---|---|\n")
	row := func(name string, of *[2]count) {
		fmt.Fprintf(b, "| %d %s |", of[0].all, name)
		for i, c := range of {
			if i == 1 {
				fmt.Fprintf(b, " %d |", c.all)
			}
			tenths := 1000 * c.agree / max(c.all, 1) // rounded down
			fmt.Fprintf(b, " %d (%d.%d %%) |", c.agree, tenths/10, tenths%10)
		}
		b.WriteString("\n")
	}
	var total [2]count
	for _, source := range keySources() {
		row("in "+source, counts[source])
		for i, c := range counts[source] {
			total[i].all += c.all
			total[i].agree += c.agree
		}
	}
	row("together", &total)
	for _, c := range []count{counts[keySources()[0]][0], total[0]} {
		if 100*c.agree < 98*c.all || c.all == 0 {
			t.Errorf("%d of %d agree", c.agree, c.all)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(k.lost)) {
		fmt.Fprintf(b, "| %d not judged: %s | | | |\n", k.lost[why], why)
	}
	b.WriteString("\n| why they differ | Checkov passes, the rule finds | Checkov fails, the rule does not | ")
	b.WriteString("the same where there are variables |\n|---|---|---|---|\n")
	for _, why := range slices.Sorted(maps.Keys(explained)) {
		n := explained[why]
		fmt.Fprintf(b, "| %s | %d | %d | %d, %d |\n", why, n[0][0], n[0][1], n[1][0], n[1][1])
	}
}

func index(second bool) int {
	if second {
		return 1
	}
	return 0
}
