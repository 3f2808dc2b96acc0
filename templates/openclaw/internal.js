// Events that a host has handlers in folders for; the plugin registers for the same ones.
import { about, isKept, quiet, remember, send, sessionKey, settled, shared } from "./sessions.js";

export const INTERNAL_EVENTS = [
  "agent:bootstrap",
  "session:compact:before",
  "session:compact:after",
  "command:new",
  "command:reset",
];
const READ = ["tokenCount", "tokensAfter"];

async function answer(event) {
  const key = sessionKey(event);
  const context = event.context ?? {};
  // Some versions call each handler twice, and every one gets its own event around one context.
  if (!isKept(key) || shared.answered.has(context)) return;
  shared.answered.add(context);
  shared.hostConfig ??= context.cfg;
  const known = remember(key, context.sessionEntry, context);
  const files = context.bootstrapFiles;
  const hasPlace = Array.isArray(files) && Object.isExtensible(files);
  // What is handed out counts as delivered, so it is not asked for where it has no place.
  if (event.type === "agent" && !hasPlace) return;
  // What was measured is of the conversation that the user just ended.
  if (event.type === "command") known.usage = undefined;
  await settled(known);
  const read = Object.fromEntries(READ.map((name) => [name, context[name]]));
  const { bootstrap } = await send(`${event.type}:${event.action}`, known, {
    type: event.type,
    action: event.action,
    sessionKey: key,
    context: { ...about(known, key), ...read },
  });
  if (event.action === "compact:before") known.savedAt = Date.now();
  if (hasPlace) place(files, known, bootstrap);
}

/** Puts our file among the host's; some versions hand out the same list again and again. */
function place(files, known, content) {
  const name = "GITGUARD.md";
  const path = `${known.workspaceDir}/${name}`;
  const old = files.findIndex((file) => file?.path === path);
  if (old >= 0) files.splice(old, 1);
  if (content) files.push({ name, path, content, missing: false });
}

export const onInternal = quiet(answer);
