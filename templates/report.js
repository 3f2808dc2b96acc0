"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const from = document.getElementById("from");
  const to = document.getElementById("to");
  if (!from || !data.stops.length) return;
  const outcome = document.getElementById("outcome");
  const STATED = ["goal", "status", "phase", "next action", "confidence", "pressure"];

  // All text from the data goes through here, and never anywhere that reads markup.
  const element = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const has = (spans, stop) => spans.some(([first, last]) => first <= stop && stop <= last);

  const change = (tag, sign, word, text, source) => {
    const line = element("li");
    line.append(element("span", word + ": ", "unseen"));
    const marked = element(tag, sign + " " + text);
    line.append(marked);
    if (source) line.append(element("small", source));
    return line;
  };

  const stateDifference = (older, newer) => {
    const shown = document.createDocumentFragment();
    let count = 0;
    const section = (title, lines) => {
      if (!lines.length) return;
      count += lines.length;
      shown.append(element("h4", title));
      const list = element("ul", undefined, "changes");
      list.append(...lines);
      shown.append(list);
    };
    STATED.forEach((title, n) => {
      const before = data.stops[older][2][n];
      const after = data.stops[newer][2][n];
      if (before !== after) {
        section(title, [change("del", "−", "before", before), change("ins", "+", "after", after)]);
      }
    });
    data.fields.forEach((title, field) => {
      const lines = [];
      for (const [of, text, source, spans] of data.items) {
        if (of !== field) continue;
        const was = has(spans, older);
        const is = has(spans, newer);
        if (was && !is) lines.push(change("del", "−", "removed", text, source));
        if (is && !was) lines.push(change("ins", "+", "added", text, source));
      }
      section(title, lines);
    });
    return [shown, count];
  };

  const codeDifference = (older, newer) => {
    const shown = document.createDocumentFragment();
    const begin = data.stops[older][1];
    const end = data.stops[newer][1];
    if (begin < 0 || end < 0) {
      shown.append(element("p", "One of them had a commit checked out that is not in this range."));
      return [shown, 0];
    }
    const commits = data.commits.slice(Math.min(begin, end), Math.max(begin, end));
    const files = new Map();
    for (const [, , paths] of commits) {
      for (const [path, added, removed] of paths) {
        const sum = files.get(path) || [0, 0];
        files.set(path, [sum[0] + (added || 0), sum[1] + (removed || 0)]);
      }
    }
    if (!commits.length) {
      shown.append(element("p", "No commit was made between them."));
      return [shown, 0];
    }
    const table = element("table");
    table.append(element("caption", "Lines added and removed by the commits between them"));
    const head = element("tr");
    for (const title of ["File", "+", "−"]) {
      const cell = element("th", title);
      cell.scope = "col";
      head.append(cell);
    }
    table.append(head);
    for (const [path, sum] of [...files].sort((a, b) => a[0] - b[0])) {
      const row = element("tr");
      row.append(element("td", data.paths[path]));
      row.append(element("td", String(sum[0]), "added"), element("td", String(sum[1]), "removed"));
      table.append(row);
    }
    shown.append(table, element("h4", "commits"));
    const list = element("ul");
    for (const [id, subject] of commits) {
      const line = element("li");
      line.append(element("code", id), element("span", " " + subject));
      list.append(line);
    }
    shown.append(list);
    return [shown, commits.length];
  };

  const counted = (number, word) => number + " " + word + (number === 1 ? "" : "s");

  const compare = () => {
    const older = Math.min(from.value, to.value);
    const newer = Math.max(from.value, to.value);
    const [state, changes] = stateDifference(older, newer);
    const [code, commits] = codeDifference(older, newer);
    document.getElementById("state").replaceChildren(state);
    document.getElementById("code").replaceChildren(code);
    const names = data.stops[older][0] + " to " + data.stops[newer][0];
    outcome.textContent =
      names + ": " + counted(changes, "change") + " of the state, " + counted(commits, "commit");
  };

  from.value = String(Math.max(data.stops.length - 2, 0));
  to.value = String(data.stops.length - 1);
  from.addEventListener("change", compare);
  to.addEventListener("change", compare);
  compare();
})();
