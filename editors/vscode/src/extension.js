// Starts `gradsan server` and hands it the texts of Python files; everything else is the server's.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const DOCUMENTS = [
  { scheme: "file", language: "python" },
  { scheme: "vscode-notebook-cell", language: "python" },
];

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("gradsan").get("command", ["gradsan", "server"]);
  client = new LanguageClient("gradsan", "gradsan", { command, args }, { documentSelector: DOCUMENTS });
  try {
    await client.start();
  } catch {
    client = undefined;
    const install = "pip install 'gradsan[lsp]'";
    vscode.window.showWarningMessage(
      `gradsan: \`${[command, ...args].join(" ")}\` does not start; install it with \`${install}\`, ` +
        "or set gradsan.command to the Python that has it.",
    );
  }
}

async function restart() {
  await client?.stop();
  await start();
}

/** @param {vscode.ExtensionContext} context */
exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("gradsan.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("gradsan") && restart()),
  );
  await start();
};

exports.deactivate = () => client?.stop();
