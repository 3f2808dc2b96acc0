// Records every hook call in $PROBE_FOLDER/calls.jsonl and answers as $PROBE_FOLDER/answers.json says.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = process.env.PROBE_FOLDER;
const LIVE_OBJECTS = new Set(["cfg", "config", "deps", "runtime", "abortSignal"]);
const LONGEST_TEXT = 4000;
const INTERNAL = [
  "agent:bootstrap",
  "session:compact:before",
  "session:compact:after",
  "command:new",
  "command:reset",
  "command:stop",
  "gateway:startup",
  "gateway:shutdown",
];
const TYPED = [
  "before_model_resolve",
  "agent_turn_prepare",
  "before_agent_start",
  "before_prompt_build",
  "before_agent_run",
  "before_agent_reply",
  "before_agent_finalize",
  "agent_end",
  "model_call_started",
  "model_call_ended",
  "llm_input",
  "llm_output",
  "before_tool_call",
  "after_tool_call",
  "resolve_exec_env",
  "tool_result_persist",
  "before_message_write",
  "session_start",
  "session_end",
  "before_compaction",
  "after_compaction",
  "before_reset",
  "gateway_start",
  "gateway_stop",
  "subagent_spawned",
  "subagent_ended",
];

function record(hook, event, ctx) {
  const entry = { hook, time: Date.now() / 1000, pid: process.pid, event, ctx };
  appendFileSync(join(FOLDER, "calls.jsonl"), JSON.stringify(plain(entry)) + "\n");
}

function plain(value) {
  const above = [];
  return JSON.parse(
    JSON.stringify(value, function (key, found) {
      while (above.length && above.at(-1) !== this) above.pop();
      if (LIVE_OBJECTS.has(key)) return "[elided]";
      if (typeof found === "function") return "[function]";
      if (typeof found === "bigint") return String(found);
      if (typeof found === "string" && found.length > LONGEST_TEXT) {
        return `${found.slice(0, LONGEST_TEXT)}...[${found.length} characters]`;
      }
      if (found && typeof found === "object") {
        if (above.includes(found)) return "[circular]";
        above.push(found);
      }
      return found;
    }),
  );
}

function answerTo(hook) {
  try {
    return JSON.parse(readFileSync(join(FOLDER, "answers.json"), "utf8"))[hook];
  } catch {
    return undefined;
  }
}

function answer(hook, event) {
  const wanted = answerTo(hook);
  if (!wanted) return undefined;
  if (wanted.throws) throw new Error(wanted.throws);
  if (wanted.rejects) return Promise.reject(new Error(wanted.rejects));
  if (wanted.blocks_seconds) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wanted.blocks_seconds * 1000);
  }
  if (wanted.bootstrap) {
    event.context.bootstrapFiles.push({
      name: "PROBE.md",
      path: join(event.context.workspaceDir, ".probe/PROBE.md"),
      content: wanted.bootstrap,
      missing: false,
    });
  }
  let result = wanted.returns;
  if (wanted.merges_params) {
    result = { params: { ...event.params, ...wanted.merges_params } };
  }
  if (wanted.sleeps_seconds) {
    return new Promise((done) =>
      setTimeout(() => {
        record(`${hook}.awake`, {}, {});
        done(result);
      }, wanted.sleeps_seconds * 1000),
    );
  }
  return result;
}

function handler(hook) {
  return (event, ctx) => {
    record(hook, event, ctx);
    return answer(hook, event);
  };
}

export default {
  id: "probe",
  name: "Probe",
  description: "records hooks",
  register(api) {
    record("register", { keys: Object.keys(api), mode: api.registrationMode, source: api.source }, {});
    for (const name of INTERNAL) {
      attempt(name, () => api.registerHook(name, handler(name), { name: `probe-${name}` }));
    }
    const left = answerTo("options") ?? {};
    for (const name of TYPED) attempt(name, () => api.on(name, handler(name), left[name]));
  },
};

function attempt(name, registration) {
  try {
    registration();
  } catch (error) {
    record("refused", { name, error: String(error) }, {});
  }
}
