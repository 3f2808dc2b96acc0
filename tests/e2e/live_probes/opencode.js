// A plugin that records what opencode gives it, as recorder.py does for hooks that are commands.
import fs from "node:fs";

const FOLDER = "@FOLDER@";
const HOOKS = [
    "chat.message",
    "tool.execute.before",
    "tool.execute.after",
    "experimental.chat.system.transform",
    "experimental.session.compacting",
    "dispose",
];
const EVENTS = ["session.created", "session.compacted", "session.idle", "session.error"];

const record = (name, payload, tool) =>
    fs.appendFileSync(
        `${FOLDER}/calls.jsonl`,
        JSON.stringify({
            payload: { ...payload, hook_event_name: name, ...(tool ? { tool_name: tool } : {}) },
            env: {},
            cwd: process.cwd(),
            time: Date.now() / 1000,
        }) + "\n",
    );

const answer = (name) => {
    try {
        return JSON.parse(fs.readFileSync(`${FOLDER}/answers.json`, "utf8"))[name]?.output;
    } catch {
        return undefined;
    }
};

export const Recorder = async () => {
    const hooks = {
        event: async ({ event }) => {
            if (EVENTS.includes(event.type)) record(event.type, event.properties);
        },
    };
    for (const name of HOOKS)
        hooks[name] = async (input, output) => {
            record(name, { input, output }, input?.tool);
            const text = answer(name);
            if (!text) return;
            if (name === "tool.execute.before") throw new Error(text);
            if (output?.system) output.system.push(text);
        };
    return hooks;
};
