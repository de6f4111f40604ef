// Starts the language server and connects the editor with it. Everything else is in the server.

import { ExtensionContext, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(_: ExtensionContext): Promise<void> {
  const [command, ...args] = workspace.getConfiguration("sdc").get<string[]>("command") ?? ["sdcdsl", "lsp"];
  if (!command) {
    return;
  }
  const server: ServerOptions = { command, args };
  const options: LanguageClientOptions = { documentSelector: [{ language: "sdc" }] };
  client = new LanguageClient("sdc", "sdc", server, options);
  try {
    await client.start();
  } catch (error) {
    void window.showErrorMessage(
      `The language server did not start: ${String(error)}. Install it with pip install 'sdcdsl[lsp]', ` +
        "or set sdc.command to where it is.",
    );
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
