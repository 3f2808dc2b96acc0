// gitguard's extension for pi. It only carries events to `gitguard hook pi` and answers back; what
// they mean is decided there. Whatever fails here is silent, and the agent goes on.
import { connect, ending, Held, quiet } from "./dialect.js";

const TYPE = "gitguard";

// The host gives itself to extensions under its package's name.
const host = import("@earendil-works/pi-coding-agent").catch(() => ({}));

const send = connect("pi", ["PI_SESSION_ID", "PI_SESSION_FILE", "PI_CODING_AGENT", "AI_AGENT"]);

export default function (pi) {
  const held = new Held();
  let turn;
  let answer;
  let afterCompaction;

  async function tell(ctx, event, payload) {
    const { VERSION: version } = await host;
    const { tokens, contextWindow } = ctx.getContextUsage() ?? {};
    const { provider, id } = ctx.model ?? {};
    return send(event, {
      session_id: ctx.sessionManager.getSessionId(),
      cwd: ctx.cwd,
      host_version: version,
      transcript_path: ctx.sessionManager.getSessionFile(),
      model: provider && id ? `${provider}/${id}` : id,
      prompt_id: turn,
      input_tokens: tokens || undefined,
      context_limit: contextWindow,
      ...payload,
    });
  }

  function show(ctx, message) {
    if (!message) return;
    if (ctx.hasUI) ctx.ui.notify(message, "warning");
    else process.stderr.write(`${message}\n`);
  }

  const message = (content) => ({ customType: TYPE, content, display: false });

  async function onInput(event, ctx) {
    // What is typed during a turn joins it.
    if (!turn || !event.streamingBehavior) turn = `${Date.now()}`;
    const isTheirs = event.source !== "extension";
    const reply = await tell(ctx, "UserPromptSubmit", { prompt: isTheirs ? event.text : "" });
    if (reply.refuse) {
      show(ctx, reply.refuse);
      return { action: "handled" };
    }
    if (ctx.hasUI) show(ctx, reply.notice);
    held.add(reply.context);
    return undefined;
  }

  function beforeRun() {
    const content = held.take();
    return content ? { message: message(content) } : undefined;
  }

  const call = (event) => ({
    tool_name: event.toolName,
    tool_call_id: event.toolCallId,
    tool_input: event.input,
  });

  async function beforeTool(event, ctx) {
    const reply = await tell(ctx, "PreToolUse", call(event));
    held.add(reply.context);
    if (!reply.deny) return undefined;
    show(ctx, reply.stop);
    return { block: true, reason: reply.deny, terminate: reply.stop !== undefined };
  }

  async function afterTool(event, ctx) {
    const texts = event.content.filter((part) => part.type === "text").map((part) => part.text);
    const output = ending(texts.join("\n"));
    const result = event.isError ? { error: output } : { tool_output: output };
    const reply = await tell(ctx, "PostToolUse", { ...call(event), ...result });
    const text = held.take(reply.context);
    return text ? { content: [...event.content, { type: "text", text }] } : undefined;
  }

  function afterRun(event) {
    const last = event.messages.findLast(({ role }) => role === "assistant");
    const parts = Array.isArray(last?.content) ? last.content : [];
    answer = parts.filter((part) => part.type === "text").map((part) => part.text);
  }

  async function onSettled(_, ctx) {
    await tell(ctx, "Stop", { last_assistant_message: answer?.join("\n") });
    turn = answer = undefined;
  }

  async function onCompacted(event, ctx) {
    const reply = await tell(ctx, "SessionStart", { source: "compact" });
    await tell(ctx, "PostCompact", { compact_summary: event.compactionEntry?.summary });
    if (ctx.hasUI) show(ctx, reply.notice);
    const content = held.take(reply.context);
    if (!content) return;
    // During a turn the host keeps the message for the turn's end; until then `context` adds it.
    afterCompaction = content;
    pi.sendMessage(message(content), { triggerTurn: false });
  }

  function onContext({ messages }) {
    const isOurs = ({ customType, content }) => customType === TYPE && content === afterCompaction;
    if (!afterCompaction) return undefined;
    if (!messages.some(isOurs)) {
      const added = { role: "custom", ...message(afterCompaction), timestamp: Date.now() };
      return { messages: [...messages, added] };
    }
    afterCompaction = undefined;
    return undefined;
  }

  /** A session that begins with the host may be a copy, of which only its header tells. */
  function onStart({ reason }, ctx) {
    const isCopy = reason === "startup" && ctx.sessionManager.getHeader?.()?.parentSession;
    return tell(ctx, "SessionStart", { source: isCopy ? "fork" : reason });
  }

  pi.on("session_start", quiet(onStart));
  pi.on("input", quiet(onInput));
  pi.on("before_agent_start", quiet(beforeRun));
  pi.on("context", quiet(onContext));
  pi.on("tool_call", quiet(beforeTool));
  pi.on("tool_result", quiet(afterTool));
  pi.on("agent_end", quiet(afterRun));
  pi.on("agent_settled", quiet(onSettled));
  pi.on(
    "session_before_compact",
    quiet(({ reason }, ctx) => tell(ctx, "PreCompact", { trigger: reason }).then(() => undefined)),
  );
  pi.on("session_compact", quiet(onCompacted));
  pi.on("session_shutdown", quiet(({ reason }, ctx) => tell(ctx, "SessionEnd", { reason })));
}
