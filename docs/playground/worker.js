// The program in a thread of its own, so that the page stays quick: calls come as {id, name, values}, results go back.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const ready = (async () => {
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  const files = await (await fetch("files.json")).json();
  const wheel = await (await fetch(files.wheel)).arrayBuffer();
  python.unpackArchive(wheel, "wheel");
  python.runPython(await (await fetch("calls.py")).text());
  return python;
})();

ready.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ failed: String(error) }),
);

onmessage = async ({ data: { id, name, values } }) => {
  const python = await ready;
  try {
    postMessage({ id, result: JSON.parse(python.globals.get("call")(name, JSON.stringify(values))) });
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
};
