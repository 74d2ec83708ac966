// Starts "policyscan lsp". Everything else is in the program.
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = (context) => {
  const settings = vscode.workspace.getConfiguration('policyscan');
  context.subscriptions.push(
    vscode.commands.registerCommand('policyscan.copy', (text) => vscode.env.clipboard.writeText(text)),
  );
  client = new LanguageClient(
    'policyscan',
    'policyscan',
    { command: settings.get('path'), args: ['lsp', ...settings.get('policy').flatMap((dir) => ['--policy', dir])] },
    { documentSelector: [{ scheme: 'file' }], initializationOptions: { copyCommand: 'policyscan.copy' } },
  );
  return client.start();
};

exports.deactivate = () => client?.stop();
