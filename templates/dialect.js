// What the plugins share that speak the common hook dialect: events out, and replies taken apart.
import { ask, copy, readConfig } from "./channel.js";

// The end of an output says how a command ended.
const LONGEST_OUTPUT = 32768;

/** Returns the function that sends one event; it resolves to what the reply asks for, never fails. */
export function connect(host, marks) {
  const config = readConfig(import.meta.url, { host, marks });
  return async (event, payload) => {
    const sent = { hook_event_name: event, ...copy(payload) };
    return taken(await ask(config, event, sent));
  };
}

/** {context, deny, refuse, stop, notice}: texts, undefined where the reply has none. */
function taken(reply) {
  const { hookSpecificOutput: specific, decision, reason, stopReason, systemMessage } = reply ?? {};
  return {
    context: specific?.additionalContext,
    deny: specific?.permissionDecision === "deny" ? specific.permissionDecisionReason : undefined,
    refuse: decision === "block" ? reason : undefined,
    stop: reply?.continue === false ? stopReason : undefined,
    notice: systemMessage,
  };
}

/** The end of a long text. */
export function ending(text) {
  return typeof text === "string" ? text.slice(-LONGEST_OUTPUT) : undefined;
}

/** What is to be told as soon as the host hears: it does not hear after every event. */
export class Held {
  texts = [];

  add(text) {
    if (text) this.texts.push(text);
  }

  /** Returns all of it with the newest text, and forgets it; empty where there is none. */
  take(text) {
    this.add(text);
    return this.texts.splice(0).join("\n\n");
  }
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
