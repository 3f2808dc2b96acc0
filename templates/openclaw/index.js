// gitguard's plugin for OpenClaw. It only carries events to `gitguard hook openclaw` and answers
// back; what they mean is decided there. Whatever fails here is silent, and the agent goes on.
import { copy } from "./channel.js";
import { INTERNAL_EVENTS, onInternal } from "./internal.js";
import {
  answersInternalEvents,
  carry,
  carryNow,
  isKept,
  isWrapper,
  quiet,
  remember,
  sessionKey,
  settled,
  shared,
} from "./sessions.js";

const SAME_COMPACTION = 60000;

// Prompts

/** A run that is tried again, after a compaction for example, is one prompt all the same. */
async function beforePrompt(event, ctx) {
  const key = sessionKey(event, ctx);
  if (!isKept(key)) return undefined;
  const known = remember(key, ctx);
  if (!ctx?.runId || known.prompt?.runId !== ctx.runId) {
    await settled(known);
    known.blocked.clear();
    known.compacting = false;
    known.trigger = ctx?.trigger;
    const answer = await carry("before_prompt_build", ["prompt"], event, ctx);
    known.prompt = { runId: ctx?.runId, answer };
  }
  const { context } = known.prompt.answer;
  return context ? { prependContext: context } : undefined;
}

function beforeRun(event, ctx) {
  const { prompt } = shared.sessions.get(sessionKey(event, ctx)) ?? {};
  const block = prompt?.runId === ctx?.runId && prompt?.answer.block;
  return block ? { outcome: "block", reason: "gitguard", message: block } : undefined;
}

// Tool calls

/** The variables by which `gitguard` in the agent's shell finds the session. */
function shell(known, key) {
  const named = {
    GITGUARD_SESSION: key,
    GITGUARD_HOST_SESSION: known.sessionId,
    GITGUARD_ROOT: known.workspaceDir,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value));
}

/** Of a sub-agent too: without a name its shell would work at the workspace's own session. */
function execEnv(event, ctx) {
  const key = sessionKey(event, ctx);
  if (!key) return undefined;
  const known = remember(key, ctx);
  known.hasExecEnv = true;
  return shell(known, key);
}

async function beforeTool(event, ctx) {
  const key = sessionKey(event, ctx);
  if (!key || isWrapper(event)) return undefined;
  const known = remember(key, ctx);
  const { block } = await carry("before_tool_call", ["toolName", "params", "toolCallId"], event, ctx);
  if (block) {
    known.blocked.add(event.toolCallId);
    return { block: true, blockReason: block };
  }
  // Hosts without `resolve_exec_env` take the shell's variables with the call.
  if (event.toolName !== "exec" || known.hasExecEnv) return undefined;
  return { params: { ...event.params, env: { ...event.params?.env, ...shell(known, key) } } };
}

async function afterTool(event, ctx) {
  const known = shared.sessions.get(sessionKey(event, ctx));
  // A call that was refused did not fail, though the host reports it as if it had.
  if (isWrapper(event) || known?.blocked.has(event.toolCallId)) return;
  const { isError, details, content } = event.result ?? {};
  const result = { isError, details: copy(details, 4000), content: copy(content, 4000) };
  const names = ["toolName", "params", "toolCallId", "error", "result"];
  await carry("after_tool_call", names, { ...event, result }, ctx);
}

// What the host says of the context; no process is started for it

/** The window of a model that the configuration describes; some versions tell it nowhere else. */
function configuredWindow(provider, model) {
  const models = shared.hostConfig?.models?.providers?.[provider]?.models;
  return Array.isArray(models) ? models.find((entry) => entry?.id === model)?.contextWindow : undefined;
}

function rememberUsage(message, known) {
  const { input, output, cacheRead, cacheWrite } = message?.usage ?? {};
  if (message?.role !== "assistant" || !(input > 0 || cacheRead > 0)) return;
  const { provider, model } = message;
  known.usage = { input, output, cacheRead, cacheWrite, provider, model, at: Date.now() };
  known.window ??= configuredWindow(provider, model);
}

/** Not async: the host takes a message's writing for blocked or changed by what is returned. */
function onMessage(event, ctx) {
  const key = sessionKey(event, ctx);
  if (isKept(key)) rememberUsage(event?.message, remember(key, ctx));
}

function onModel(event, ctx) {
  const key = sessionKey(event, ctx);
  if (isKept(key)) remember(key, event, ctx);
}

// Compactions and ends

/** Not awaited by every host, which then asks for the summary at once: so nothing is left for later. */
function beforeCompaction(event, ctx) {
  const key = sessionKey(event, ctx);
  if (!isKept(key)) return;
  const known = remember(key, ctx);
  known.compacting = true;
  const isTold = Date.now() - (known.savedAt ?? 0) < SAME_COMPACTION;
  if (!isTold) carryNow("before_compaction", [], event, key);
}

async function afterCompaction(event, ctx) {
  // Some versions name no session at the end; it is the one that began, where only one did.
  const begun = [...shared.sessions].filter(([, known]) => known.compacting);
  const key = sessionKey(event, ctx) || (begun.length === 1 ? begun[0][0] : "");
  if (!isKept(key)) return;
  const known = remember(key, ctx);
  known.compacting = false;
  await settled(known);
  await carry("after_compaction", ["tokenCount"], event, { ...ctx, sessionKey: key });
}

async function turnEnd(event, ctx) {
  const key = sessionKey(event, ctx);
  if (!isKept(key)) return;
  const known = remember(key, ctx);
  // A turn that was broken off has no answer, and the one before it is not this one's.
  const last = event?.messages?.findLast?.((said) => ["assistant", "user"].includes(said?.role));
  if (!known.usage) rememberUsage(last, known);
  const parts = last?.role === "assistant" && Array.isArray(last.content) ? last.content : [];
  const texts = parts.filter((part) => part?.type === "text").map((part) => part.text);
  await settled(known);
  await carry("agent_end", ["answer"], { ...event, answer: texts.join("\n") }, ctx);
}

async function sessionEnd(event, ctx) {
  const known = shared.sessions.get(sessionKey(event, ctx));
  if (!known) return;
  await settled(known);
  await carry("session_end", ["reason"], event, ctx);
}

function register(api) {
  shared.hostConfig = api.config ?? shared.hostConfig;
  if (answersInternalEvents) api.registerHook(INTERNAL_EVENTS, onInternal, { name: "gitguard" });
  api.on("before_prompt_build", quiet(beforePrompt));
  api.on("before_agent_run", quiet(beforeRun));
  api.on("resolve_exec_env", quiet(execEnv));
  api.on("before_tool_call", quiet(beforeTool));
  api.on("after_tool_call", quiet(afterTool));
  api.on("before_message_write", onMessage);
  api.on("llm_output", onModel);
  api.on("model_call_ended", onModel);
  api.on("before_compaction", quiet(beforeCompaction));
  api.on("after_compaction", quiet(afterCompaction));
  api.on("agent_end", quiet(turnEnd));
  api.on("session_end", quiet(sessionEnd));
}

export default {
  id: "gitguard",
  name: "gitguard",
  description: "Keeps the agent's working memory in git and hands it back",
  register,
};
