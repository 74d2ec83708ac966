// Prints what npm's yaml and js-yaml read in each file 0.yaml, 1.yaml, … of a directory, as lines of JSON.
const fs = require('fs')
const YAML = require('yaml')
const jsYAML = require('js-yaml')

Buffer.prototype.toJSON = () => null // a tag of binary content
const untagged = kind => new jsYAML.Type('!', {kind, multi: true, construct: data => data})
const schema = jsYAML.DEFAULT_SCHEMA.extend(['scalar', 'sequence', 'mapping'].map(untagged))

for (let file = 0; file < Number(process.argv[3]); file++) {
  const text = fs.readFileSync(`${process.argv[2]}/${file}.yaml`, 'utf8')
  const print = (reader, read) => {
    const documents = []
    try {
      for (const d of read()) {
        JSON.stringify(d) // nothing that contains itself
        documents.push(d)
      }
    } catch { /* what it read before counts */ }
    console.log(JSON.stringify({file, reader, documents}))
  }
  for (const version of ['1.1', '1.2']) {
    print('npm yaml ' + version, function* () {
      for (const d of YAML.parseAllDocuments(text, {version, logLevel: 'silent'})) {
        if (d.errors.length) return
        yield d.toJS()
      }
    })
  }
  print('js-yaml', () => jsYAML.loadAll(text, null, {schema}))
}
