// An extension that records what pi gives it, as recorder.py does for hooks that are commands.
import fs from "node:fs";

const FOLDER = "@FOLDER@";
const EVENTS = [
    "session_start",
    "session_shutdown",
    "session_before_compact",
    "session_compact",
    "before_agent_start",
    "agent_end",
    "tool_call",
    "tool_result",
];

const record = (name: string, event: any, ctx: any) =>
    fs.appendFileSync(
        `${FOLDER}/calls.jsonl`,
        JSON.stringify({
            payload: {
                hook_event_name: name,
                keys: Object.keys(event),
                ...(event.toolName ? { tool_name: event.toolName } : {}),
                ...(event.reason ? { source: event.reason } : {}),
                session_id: ctx.sessionManager.getSessionId(),
                usage: ctx.getContextUsage() ?? null,
            },
            env: {},
            cwd: ctx.cwd,
            time: Date.now() / 1000,
        }) + "\n",
    );

const answer = (name: string) => {
    try {
        return JSON.parse(fs.readFileSync(`${FOLDER}/answers.json`, "utf8"))[name]?.output;
    } catch {
        return undefined;
    }
};

export default function (pi: any) {
    for (const name of EVENTS)
        pi.on(name, async (event: any, ctx: any) => {
            record(name, event, ctx);
            const text = answer(name);
            if (!text) return;
            if (name === "tool_call") return { block: true, reason: text };
            if (name === "before_agent_start")
                return { message: { customType: "recorder", content: text, display: false } };
        });
}
