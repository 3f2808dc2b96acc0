// What is known of the host's sessions, and the sending of their events.
import { ask, copy, readConfig, tellNow } from "./channel.js";

const config = readConfig(import.meta.url, { host: "openclaw", marks: ["OPENCLAW_SHELL"] });
// Together with gitguard's own limit for an event this stays below eight seconds.
const SETTLE_LIMIT = 1000;
// The window that the host assumes of a model of which it knows none.
const ASSUMED_WINDOW = 200000;
const MOST_SESSIONS = 500;
const NAMES = [
  "sessionId",
  "workspaceDir",
  "agentId",
  "channelId",
  "trigger",
  "modelProviderId",
  "modelId",
];

/** Whether the plugin answers internal events; where a directory hook does, it must not. */
export const answersInternalEvents = config.internal !== false;

// A host registers a plugin several times, and may load its code anew for each; what is known of
// its sessions, and which events were answered, is one for the process.
export const shared = (globalThis[Symbol.for("gitguard.openclaw")] ??= {
  sessions: new Map(),
  answered: new WeakSet(),
});

/** Returns what is known of a session, with what the sources add to it. */
export function remember(key, ...sources) {
  const known = shared.sessions.get(key) ?? { running: new Set(), blocked: new Set() };
  shared.sessions.delete(key);
  shared.sessions.set(key, known);
  if (shared.sessions.size > MOST_SESSIONS) {
    shared.sessions.delete(shared.sessions.keys().next().value);
  }
  for (const source of sources) {
    for (const name of NAMES) {
      if (typeof source?.[name] === "string" && source[name]) known[name] = source[name];
    }
    if (source?.contextTokenBudget > 0) known.window = source.contextTokenBudget;
  }
  return known;
}

export function sessionKey(event, ctx) {
  const key = ctx?.sessionKey ?? event?.sessionKey ?? event?.context?.sessionKey;
  return typeof key === "string" ? key : "";
}

/** Whether a tool only calls others, which have events of their own. */
export function isWrapper(event) {
  return Boolean(config.wrappers?.includes(event?.toolName));
}

/** Whether a session is one that gitguard keeps: sub-agents and the host's helpers are not. */
export function isKept(key) {
  return key !== "" && !key.includes(":subagent:") && !key.startsWith("temp:");
}

export function about(known, key) {
  const said = NAMES.map((name) => [name, known[name]]);
  return { sessionKey: key, ...Object.fromEntries(said) };
}

/** The agent's cap on its window, which only lowers it. */
function cap(agentId) {
  const { defaults, list } = shared.hostConfig?.agents ?? {};
  const agent = Array.isArray(list) ? list.find((entry) => entry?.id === agentId) : undefined;
  return agent?.contextTokens ?? defaults?.contextTokens;
}

function windowOf(known) {
  const most = cap(known.agentId);
  return most > 0 && most < (known.window ?? ASSUMED_WINDOW) ? most : known.window;
}

function withUsage(known, payload) {
  const window = windowOf(known);
  const usage = known.usage || window ? { ...known.usage, window } : undefined;
  return { ...payload, usage };
}

/** Sends an event with the newest usage; resolves to gitguard's answer, {} for none. */
export function send(kind, known, payload) {
  // Nothing happened in it since the host started: no prompt told where it works.
  if (!known.workspaceDir) return Promise.resolve({});
  const answer = ask(config, kind, withUsage(known, payload));
  known.running.add(answer);
  answer.finally(() => known.running.delete(answer));
  return answer;
}

/** A typed event with the parts of it that gitguard reads. */
function typed(hook, names, event, known, key) {
  const parts = Object.fromEntries(names.map((name) => [name, copy(event?.[name])]));
  return { hook, event: parts, ctx: about(known, key) };
}

/** Sends a typed event; resolves to the answer. */
export async function carry(hook, names, event, ctx) {
  const key = sessionKey(event, ctx);
  if (!isKept(key)) return {};
  const known = remember(key, event, ctx);
  return send(hook, known, typed(hook, names, event, known, key));
}

/** Sends a typed event and waits for it, and the whole host with it. */
export function carryNow(hook, names, event, key) {
  const known = remember(key, event);
  if (!known.workspaceDir) return;
  tellNow(config, hook, withUsage(known, typed(hook, names, event, known, key)));
}

/** Waits for a session's earlier events, so that those that sum them up come after them. */
export async function settled(known) {
  if (known.running.size === 0) return;
  let timer;
  const enough = new Promise((resolve) => (timer = setTimeout(resolve, SETTLE_LIMIT)));
  await Promise.race([Promise.allSettled([...known.running]), enough]);
  clearTimeout(timer);
}

/** Makes a handler whose faults are no business of the host's. */
export function quiet(handler) {
  return async (...given) => {
    try {
      return await handler(...given);
    } catch {
      return undefined;
    }
  };
}
