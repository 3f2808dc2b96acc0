// The way to gitguard and back: one process per event, and silence whenever anything goes wrong.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";

const LONGEST_TEXT = 65536;
const MOST_ITEMS = 200;
const DEFAULT_LIMIT = 8000;

/** Where gitguard runs: our own folder may be gone by now, and that would end it before it began. */
function place({ marks }) {
  // A host that was started in a tool's shell has its marks, by which gitguard knows a tool.
  const kept = Object.entries(process.env).filter(([name]) => !marks.includes(name));
  return { cwd: "/", env: Object.fromEntries(kept), stdio: ["pipe", "pipe", "ignore"] };
}

/** What `gitguard init` wrote beside this file, as {executable, limits}, and what is always so:
 * the host's name and the variables that mark its tools' shells. */
export function readConfig(folder, { host, marks }) {
  const always = { host, marks, arguments: ["hook", host] };
  try {
    return { ...JSON.parse(fs.readFileSync(new URL("./config.json", folder), "utf8")), ...always };
  } catch {
    return always;
  }
}

/** A copy of what JSON can carry, with long texts and lists cut; undefined where there is none. */
export function copy(value, longest = LONGEST_TEXT) {
  const cut = (_, part) => {
    if (typeof part === "string") return part.slice(0, longest);
    if (typeof part === "bigint") return String(part);
    return Array.isArray(part) ? part.slice(0, MOST_ITEMS) : part;
  };
  try {
    return JSON.parse(JSON.stringify(value, cut));
  } catch {
    return undefined;
  }
}

/** Sends an event to gitguard; resolves to its answer, {} where it has none or fails. */
export async function ask(config, kind, payload) {
  const limit = config.limits?.[kind] ?? DEFAULT_LIMIT;
  try {
    const said = await run(config, JSON.stringify(payload), limit);
    return said ? JSON.parse(said) : {};
  } catch {
    return {};
  }
}

/** Sends an event and returns when gitguard is done, for what must not be overtaken by the host. */
export function tellNow(config, kind, payload) {
  const timeout = config.limits?.[kind] ?? DEFAULT_LIMIT;
  const input = JSON.stringify(payload);
  const options = { ...place(config), input, timeout, killSignal: "SIGKILL" };
  spawnSync(program(config), config.arguments, options);
}

function program(config) {
  const installed = config.executable && fs.existsSync(config.executable);
  return installed ? config.executable : "gitguard";
}

function run(config, input, limit) {
  return new Promise((resolve) => {
    const child = spawn(program(config), config.arguments, place(config));
    const said = [];
    const end = (text) => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      child.stdout?.destroy();
      end("");
    }, limit);
    child.on("error", () => end(""));
    child.stdin?.on("error", () => {});
    child.stdout?.on("data", (part) => said.push(part));
    child.on("close", () => end(Buffer.concat(said).toString("utf8")));
    child.stdin?.end(input);
  });
}
