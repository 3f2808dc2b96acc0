// gitguard's plugin for opencode. It only carries events to `gitguard hook opencode` and answers
// back; what they mean is decided there. Whatever fails here is silent, and the agent goes on.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { connect, ending, Held, quiet } from "../gitguard/dialect.js";

// In a tool's shell this names the conversation to gitguard.
const SHELL = "GITGUARD_OPENCODE_SESSION";
const HOST_TIMEOUT = 2000;
const MOST_SESSIONS = 500;

const send = connect("opencode", [SHELL, "OPENCODE", "OPENCODE_PID", "AGENT"]);

function database() {
  const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local/share");
  const file = path.join(data, "opencode/opencode.db");
  return fs.existsSync(file) ? file : undefined;
}

/** The end of a request to the host, undefined where it takes too long. */
async function within(request) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, HOST_TIMEOUT)));
  try {
    return await Promise.race([request, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const Gitguard = async ({ client, directory }) => {
  const sessions = new Map();
  const windows = new Map();
  const loadedAt = Date.now();
  let told = Promise.resolve();

  /** What is known of a session: {id, root, held, open, …}; `root` is a sub-agent's conversation. */
  function session(id) {
    if (!sessions.has(id)) {
      if (sessions.size >= MOST_SESSIONS) sessions.delete(sessions.keys().next().value);
      sessions.set(id, begun(id));
    }
    return sessions.get(id);
  }

  async function begun(id) {
    const known = { id, root: id, held: new Held(), open: new Map() };
    try {
      const kept = (await within(client.session.get({ path: { id } })))?.data ?? {};
      const { parentID, time, version } = kept;
      if (parentID) known.root = (await session(parentID)).root;
      known.isResumed = time?.created < loadedAt;
      // The version that a session was begun with.
      if (!known.isResumed) known.version = version;
    } catch {
      // A session of which the host says nothing counts as a conversation.
    }
    return known;
  }

  function tell(known, event, payload) {
    const agent = known.root === known.id ? {} : { agent_id: known.id, parent_agent_id: known.root };
    const { model, tokens, version } = known;
    return send(event, {
      session_id: known.root,
      ...agent,
      cwd: directory,
      host_version: version,
      transcript_path: database(),
      model,
      prompt_id: known.turn,
      input_tokens: tokens,
      context_limit: windows.get(model),
      ...payload,
    });
  }

  /** Tells of what the host does not wait for, one after the other. */
  function later(id, act) {
    told = told.then(quiet(async () => act(await session(id))));
    return told;
  }

  function show(message) {
    if (!message) return;
    client.tui?.showToast?.({ body: { title: "gitguard", message, variant: "warning" } })?.catch?.(
      () => {},
    );
  }

  async function beforePrompt({ sessionID }, { message, parts }) {
    const known = await session(sessionID);
    // Where a turn goes on, a prompt joins it.
    known.turn ??= message.id;
    known.answer = undefined;
    if (known.root !== known.id) return undefined;
    await told;
    // No event tells that a conversation goes on in this process.
    if (known.isResumed) await tell(known, "SessionStart", { source: "resume" });
    known.isResumed = false;
    const texts = parts.filter((part) => part.type === "text" && !part.synthetic);
    const reply = await tell(known, "UserPromptSubmit", {
      prompt: texts.map((part) => part.text).join("\n"),
    });
    show(reply.notice);
    if (reply.refuse) {
      known.turn = undefined;
      return reply.refuse;
    }
    const text = known.held.take(reply.context);
    if (text) {
      parts.push({
        id: `prt_${message.id.slice("msg_".length)}gitguard`,
        sessionID,
        messageID: message.id,
        type: "text",
        text,
        synthetic: true,
      });
    }
    return undefined;
  }

  async function beforeTool({ tool, sessionID, callID }, { args }) {
    const known = await session(sessionID);
    await told;
    const call = { tool_name: tool, tool_call_id: callID, tool_input: args };
    const reply = await tell(known, "PreToolUse", call);
    known.held.add(reply.context);
    if (!reply.deny) {
      known.open.set(callID, call);
      return undefined;
    }
    if (reply.stop) {
      show(reply.stop);
      within(client.session.abort({ path: { id: known.root } })).catch(() => {});
    }
    return reply.deny;
  }

  async function afterTool({ tool, sessionID, callID, args }, result) {
    const known = await session(sessionID);
    known.open.delete(callID);
    const exit = result?.metadata?.exit;
    const output = ending(result?.output);
    const reply = await tell(known, "PostToolUse", {
      tool_name: tool,
      tool_call_id: callID,
      tool_input: args,
      ...(exit ? { error: `Exit code ${exit}\n${output ?? ""}` } : { tool_output: output }),
    });
    const text = known.held.take(reply.context);
    if (text && typeof result?.output === "string") result.output += `\n\n${text}`;
    else known.held.add(text);
  }

  /** The end of a call that the host tells no hook of, because its tool failed. */
  function onPart({ part }) {
    if (part?.type === "compaction") {
      later(part.sessionID, (known) => (known.trigger = part.auto ? "auto" : "manual"));
    }
    if (part?.type !== "tool" || part.state?.status !== "error") return;
    later(part.sessionID, async (known) => {
      const call = known.open.get(part.callID);
      if (!call) return;
      known.open.delete(part.callID);
      const { error, metadata } = part.state;
      const failure = { error: ending(error), is_interrupt: metadata?.interrupted === true };
      known.held.add((await tell(known, "PostToolUseFailure", { ...call, ...failure })).context);
    });
  }

  function onMessage({ info }) {
    if (info?.role !== "assistant" || info.summary || !info.time?.completed) return;
    const { input, output, reasoning, cache, total } = info.tokens ?? {};
    const sum = (input ?? 0) + (output ?? 0) + (reasoning ?? 0);
    const tokens = total ?? sum + (cache?.read ?? 0) + (cache?.write ?? 0);
    if (!(tokens > 0)) return;
    later(info.sessionID, (known) => {
      known.model = `${info.providerID}/${info.modelID}`;
      known.tokens = tokens;
    });
  }

  function onIdle({ sessionID }) {
    later(sessionID, async (known) => {
      const { answer } = known;
      const isTurn = known.root === known.id && known.turn;
      if (isTurn) await tell(known, "Stop", { last_assistant_message: answer?.text });
      known.turn = known.answer = undefined;
    });
  }

  const handlers = {
    "message.part.updated": onPart,
    "message.updated": onMessage,
    "session.idle": onIdle,
  };

  async function beforeCompaction({ sessionID }) {
    const known = await session(sessionID);
    await told;
    known.compacting = true;
    await tell(known, "PreCompact", { trigger: known.trigger });
  }

  /** A summary keeps the block that it is given: so it is there once, and in every later request. */
  async function afterText({ sessionID, messageID }, output) {
    const known = await session(sessionID);
    if (!known.compacting) {
      const before = known.answer?.messageID === messageID ? `${known.answer.text}\n` : "";
      known.answer = { messageID, text: before + output.text };
      return;
    }
    known.compacting = false;
    known.tokens = undefined;
    const reply = await tell(known, "SessionStart", { source: "compact" });
    await tell(known, "PostCompact", { compact_summary: output.text });
    show(reply.notice);
    const text = known.held.take(reply.context);
    if (text) output.text += `\n\n${text}`;
  }

  const deny = (handler) => {
    const decide = quiet(handler);
    return async (...given) => {
      const reason = await decide(...given);
      if (reason) throw new Error(reason);
    };
  };

  return {
    event: quiet(({ event }) => handlers[event?.type]?.(event.properties ?? {})),
    "chat.message": deny(beforePrompt),
    "chat.params": quiet(({ model }) =>
      windows.set(`${model.providerID}/${model.id}`, model.limit?.context),
    ),
    "tool.execute.before": deny(beforeTool),
    "tool.execute.after": quiet(afterTool),
    "shell.env": quiet(async ({ sessionID }, { env }) => {
      if (sessionID) env[SHELL] = (await session(sessionID)).root;
    }),
    "experimental.session.compacting": quiet(beforeCompaction),
    "experimental.text.complete": quiet(afterText),
    dispose: quiet(() => told),
  };
};
