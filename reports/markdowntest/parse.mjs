// Parses mermaid diagrams: for each line of standard input, a JSON list of texts, it
// writes a line with a JSON list of the parsed diagrams to standard output.
import { createInterface } from "node:readline";
import { JSDOM } from "jsdom";

// mermaid cleans texts with DOMPurify, which needs a document.
const { window } = new JSDOM("<!doctype html><body></body>");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

// mermaid stores #59; and the like in an internal form until it draws.
const drawn = (text) =>
  String(text ?? "")
    .replace(/ﬂ°°(\d+)¶ß/g, (_, n) => String.fromCodePoint(Number(n)))
    .replace(/ﬂ°(\w+)¶ß/g, "&$1;");

async function read(text) {
  try {
    const { diagramType } = await mermaid.parse(text);
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
    return {
      type: diagramType,
      title: drawn(db.getAccTitle()),
      actors: [...db.getActors().keys()],
      messages: db.getMessages().map((m) => ({ type: m.type, from: m.from ?? "", to: m.to ?? "", text: drawn(m.message) })),
    };
  } catch (e) {
    return { error: String(e?.message ?? e) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const out = [];
  for (const text of JSON.parse(line)) out.push(await read(text));
  process.stdout.write(JSON.stringify(out) + "\n");
}
