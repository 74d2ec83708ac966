// A client of the extension's server: node lspclient.js EXTENSION PROGRAM TREE. It prints what the server says.
const [, , extension, program, tree] = process.argv;
const fs = require('fs');
const { spawn } = require('child_process');
const Module = require('module');
const path = require('path');
const { pathToFileURL } = require('url');

const from = (name) => require(require.resolve(name, { paths: [extension] }));
const settings = { path: program, policy: [] };
const vscode = {
  commands: { registerCommand: () => ({}) },
  workspace: { getConfiguration: () => ({ get: (name) => settings[name] }) },
};

// The extension itself says what to start. Its client cannot run outside of VS Code; its protocol library can.
let started;
class LanguageClient {
  constructor(id, name, server, options) { started = { server, options }; }
  start() {}
}
const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === 'vscode') return vscode;
  return name === 'vscode-languageclient/node' ? { LanguageClient } : load(name, ...rest);
};
from(extension).activate({ subscriptions: [] });

const p = from('vscode-languageserver-protocol/node');
const child = spawn(started.server.command, started.server.args, { cwd: tree, stdio: ['pipe', 'pipe', 'inherit'] });
const connection = p.createProtocolConnection(new p.StreamMessageReader(child.stdout), new p.StreamMessageWriter(child.stdin));
const uri = (name) => pathToFileURL(path.join(tree, name)).toString();

const seen = []; // diagnostics that nothing has waited for
let wake = () => {};
connection.onNotification(p.PublishDiagnosticsNotification.type, (params) => { seen.push(params); wake(); });
connection.onRequest(p.RegistrationRequest.type, () => null);
const diagnostics = async (name) => {
  for (;;) {
    const at = seen.findIndex((d) => d.uri === uri(name));
    if (at >= 0) return seen.splice(at, 1)[0].diagnostics;
    await new Promise((resolve) => { wake = resolve; });
  }
};
const say = (what, value) => console.log(what + ' ' + JSON.stringify(value));
const open = (name, text) => connection.sendNotification(p.DidOpenTextDocumentNotification.type,
  { textDocument: { uri: uri(name), languageId: 'plaintext', version: 1, text } });

(async () => {
  connection.listen();
  const { capabilities } = await connection.sendRequest(p.InitializeRequest.type, {
    processId: process.pid, rootUri: uri(''), workspaceFolders: [{ uri: uri(''), name: 'tree' }],
    initializationOptions: started.options.initializationOptions,
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      textDocument: { publishDiagnostics: { relatedInformation: true }, diagnostic: {} },
      workspace: { didChangeWatchedFiles: { dynamicRegistration: true }, workspaceFolders: true },
      window: { showDocument: { support: true } },
    },
  });
  say('sync', capabilities.textDocumentSync.change);
  await connection.sendNotification(p.InitializedNotification.type, {});
  await open('main.tf', fs.readFileSync(path.join(tree, 'main.tf'), 'utf8'));
  const [found] = await diagnostics('main.tf');
  say('found', [found.code, found.severity, found.range, found.message]);
  const actions = await connection.sendRequest(p.CodeActionRequest.type,
    { textDocument: { uri: uri('main.tf') }, range: found.range, context: { diagnostics: [found] } });
  say('actions', actions.map((a) => [a.title, a.command.command]));

  await connection.sendNotification(p.DidChangeTextDocumentNotification.type, {
    textDocument: { uri: uri('main.tf'), version: 2 }, contentChanges: [{ range: found.range, text: '10.0.0.0/8' }],
  });
  say('mended', (await diagnostics('main.tf')).length);
  await connection.sendNotification(p.DidChangeTextDocumentNotification.type, {
    textDocument: { uri: uri('main.tf'), version: 3 }, contentChanges: [{ text: 'x = "0.0.0.0/0"\n' }],
  });
  say('again', (await diagnostics('main.tf')).map((d) => d.code));

  const rules = '.policyscan/rules/boundaries.yml';
  const renamed = fs.readFileSync(path.join(tree, rules), 'utf8').replace('NET-1', 'NET-2');
  fs.writeFileSync(path.join(tree, rules), renamed);
  await connection.sendNotification(p.DidChangeWatchedFilesNotification.type,
    { changes: [{ uri: uri(rules), type: p.FileChangeType.Changed }] });
  say('renamed', (await diagnostics('main.tf')).map((d) => d.code));

  await open(rules, renamed.replace('title:', 'tilte:'));
  say('mistake', (await diagnostics(rules)).map((d) => d.code));
  const line = renamed.split('\n').findIndex((l) => l.includes('title:'));
  await connection.sendNotification(p.DidChangeTextDocumentNotification.type,
    { textDocument: { uri: uri(rules), version: 2 }, contentChanges: [{ text: renamed }] });
  const hover = await connection.sendRequest(p.HoverRequest.type,
    { textDocument: { uri: uri(rules) }, position: { line, character: renamed.split('\n')[line].indexOf('title') } });
  say('hover', hover.contents.value);
  const pulled = await connection.sendRequest(p.DocumentDiagnosticRequest.type, { textDocument: { uri: uri('main.tf') } });
  say('pulled', pulled.items.map((d) => d.code));
  await connection.sendRequest(p.ShutdownRequest.type);
  child.on('exit', (status) => { say('status', status); process.exit(0); });
  await connection.sendNotification(p.ExitNotification.type);
})();
