"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const find = (id) => document.getElementById(id);
  const PAGE = 25;

  // Builds an element. Texts are set as text, never as markup.
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    for (const child of children) element.append(child);
    return element;
  };
  const commas = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(1);

  // ---- the table of suspicious rows ----
  const data = read("rows-data");
  const text = (cell) => (typeof cell === "string" ? cell : cell.text);
  const raw = (cell) => (typeof cell === "string" ? cell : cell.value);
  const percent = (share) => (share * 100).toFixed(share < 0.1 ? 1 : 0) + "\u00a0%";

  const columns = [{ key: "row", title: "Row", value: (row) => row.row }];
  if (data.has_image) columns.push({ key: "image", title: "Image", optional: true, value: (row) => (row.image ? row.image.path : "") });
  if (data.has_id) columns.push({ key: "id", title: "Name", optional: true, value: (row) => row.id || "" });
  columns.push({ key: "given", title: data.is_classification ? "Given label" : "Given", value: (row) => raw(row.given) });
  columns.push({ key: "suggested", title: data.is_classification ? "Probably" : "Predicted", value: (row) => raw(row.suggested) });
  columns.push(data.is_classification
    ? { key: "strength", title: "How sure", optional: true, value: (row) => row.strength }
    : { key: "strength", title: "Spreads off", optional: true, value: (row) => row.strength });
  columns.push({ key: "contamination", title: "Chance wrong", falling: true, value: (row) => row.contamination });
  columns.push({ key: "flagged", title: "Flag", falling: true, optional: true, value: (row) => (row.flagged ? 1 : 0) });

  const haystack = new Map();
  for (const row of data.rows) {
    const parts = [row.row, row.id || "", text(row.given), text(row.suggested), row.image ? row.image.path : ""];
    haystack.set(row, parts.concat(row.features || []).join("\n").toLowerCase());
  }

  const state = { key: "contamination", falling: true, shown: PAGE, opened: new Set() };
  const collator = new Intl.Collator(undefined, { numeric: true });
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b));

  const chosen = (id) => (find(id) ? find(id).value : "");
  const matching = () => {
    const wanted = find("search").value.trim().toLowerCase();
    const given = chosen("filter-given");
    const suggested = chosen("filter-suggested");
    const side = chosen("filter-side");
    const flagged = find("filter-flagged").checked;
    return data.rows.filter((row) =>
      (!flagged || row.flagged) &&
      (!given || text(row.given) === given) &&
      (!suggested || text(row.suggested) === suggested) &&
      (!side || (side === "above") === (row.strength > 0)) &&
      (!wanted || haystack.get(row).includes(wanted)));
  };
  const sorted = (rows) => {
    const column = columns.find((candidate) => candidate.key === state.key);
    const direction = state.falling ? -1 : 1;
    // The list comes by falling suspicion; a stable sort keeps that order among equals.
    return rows.slice().sort((a, b) => direction * compare(column.value(a), column.value(b)));
  };

  const head = find("table").tHead.rows[0];
  for (const column of columns) {
    const button = make("button", { type: "button" }, column.title);
    const cell = make("th", { scope: "col", "data-key": column.key, class: column.optional ? "optional" : null }, button);
    button.addEventListener("click", () => {
      state.falling = state.key === column.key ? !state.falling : Boolean(column.falling);
      state.key = column.key;
      draw();
    });
    head.append(cell);
  }

  const picture = (image, className) => {
    const element = make("img", { src: image.data, alt: image.path, class: className });
    // Tiny images, such as digits of 8 x 8 pixels, are enlarged without a blur.
    element.addEventListener("load", () => element.classList.toggle("tiny", element.naturalWidth <= 64));
    return element;
  };
  const cellOf = (column, row) => {
    const optional = column.optional ? " optional" : "";
    switch (column.key) {
      case "row": {
        const button = make("button", { type: "button", class: "open", "aria-expanded": String(state.opened.has(row.row)), "aria-label": `Row ${row.row}: why it is suspected` }, String(row.row));
        return make("td", { class: "number" }, button);
      }
      case "image":
        return make("td", { class: "image" + optional }, row.image && row.image.data ? picture(row.image, "thumb") : "");
      case "id":
        return make("td", { class: "name" + optional, title: row.id }, make("bdi", {}, row.id || ""));
      case "given":
        return make("td", { class: data.is_classification ? "name" : "number", title: text(row.given) }, make("bdi", {}, text(row.given)));
      case "suggested": {
        const changed = data.is_classification && text(row.given) !== text(row.suggested);
        return make("td", { class: (data.is_classification ? "name" : "number") + (changed ? " changed" : ""), title: text(row.suggested) }, make("bdi", {}, text(row.suggested)));
      }
      case "strength":
        return make("td", { class: "number" + optional }, data.is_classification ? row.sureness : signed(row.strength));
      case "contamination": {
        const fill = make("span", { class: "fill alarm" });
        fill.style.width = `${(row.contamination * 100).toFixed(1)}%`;
        return make("td", { class: "number" }, make("span", { class: "chance" }, make("span", { class: "track", "aria-hidden": "true" }, fill), row.chance));
      }
      default:
        return make("td", { class: "mark" + optional }, row.flagged ? make("span", { class: "flag" }, "flagged") : "");
    }
  };

  // ---- the evidence of one row ----
  const evidenceOf = (row) => {
    const noun = data.is_classification ? "label" : "value";
    const names = ["Expected of rows like this", `Surprise if the ${noun} is right`, `Fit if the ${noun} is wrong`, "Together"];
    const reach = Math.max(1, ...row.evidence.map(Math.abs));
    const body = make("tbody", {});
    row.evidence.forEach((value, index) => {
      const bar = make("span", { class: value < 0 ? "against" : "for" });
      bar.style.width = `${(50 * Math.abs(value) / reach).toFixed(1)}%`;
      const amount = Math.abs(value) >= 999 ? (value < 0 ? "−∞" : "+∞") : signed(value);
      body.append(make("tr", { class: index === 3 ? "total" : null },
        make("th", { scope: "row" }, names[index]),
        make("td", {}, make("div", { class: "axisbar", "aria-hidden": "true" }, bar)),
        make("td", { class: "number" }, amount)));
    });
    return make("table", { class: "evidence" }, make("caption", { class: "hidden" }, "Evidence in log-odds"), body);
  };
  const detailOf = (row) => {
    const left = make("div", {});
    if (row.image && row.image.data) left.append(picture(row.image, null));
    if (row.image && !row.image.data) left.append(make("p", { class: "hint" }, `Image ${row.image.path}: ${row.image.note}.`));
    left.append(make("p", {}, row.words), evidenceOf(row));
    const rule = "Bars to the right speak for a wrong " + (data.is_classification ? "label" : "value") +
      ", to the left against it, in natural log-odds; they add up" +
      (row.is_approximate ? " only roughly, because each is an average over several models." : ".");
    left.append(make("p", { class: "hint" }, rule));
    const body = make("div", { class: "detail-body" }, left);
    if (row.features && row.features.length) {
      const list = make("dl", { class: "values", tabindex: "0", "aria-label": "Feature values" });
      row.features.forEach((value, index) => {
        list.append(make("div", {}, make("dt", {}, make("bdi", {}, data.feature_names[index])), make("dd", {}, make("bdi", {}, value))));
      });
      body.append(make("div", {}, make("h3", {}, "The row’s own values"), list));
    }
    return make("tr", { class: "detail" }, make("td", { colspan: String(visibleColumns()) }, body));
  };
  // A cell that spanned hidden columns would bring them back as empty ones.
  const visibleColumns = () => [...head.cells].filter((cell) => getComputedStyle(cell).display !== "none").length;

  const draw = () => {
    const rows = sorted(matching());
    const body = find("table").tBodies[0];
    const fragment = document.createDocumentFragment();
    for (const row of rows.slice(0, state.shown)) {
      const line = make("tr", { class: "row", "data-row": String(row.row) }, ...columns.map((column) => cellOf(column, row)));
      fragment.append(line);
      if (state.opened.has(row.row)) fragment.append(detailOf(row));
      line.addEventListener("click", (event) => toggle(row, line, event));
    }
    body.replaceChildren(fragment);
    for (const cell of head.cells) {
      if (cell.dataset.key === state.key) cell.setAttribute("aria-sort", state.falling ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    const shown = Math.min(rows.length, state.shown);
    find("status").textContent = rows.length === 0
      ? "No listed row matches."
      : `Showing ${commas(shown)} of ${commas(rows.length)} ${rows.length === data.rows.length ? "listed" : "matching"} rows.`;
    find("more").hidden = shown === rows.length;
  };
  const toggle = (row, line, event) => {
    // Selecting text of a row with the mouse must not open it; the keyboard always may.
    const selection = window.getSelection();
    if (event.detail > 0 && String(selection) && line.contains(selection.anchorNode)) return;
    const opens = !state.opened.has(row.row);
    if (opens) {
      state.opened.add(row.row);
      line.after(detailOf(row));
    } else {
      state.opened.delete(row.row);
      line.nextElementSibling.remove();
    }
    line.querySelector(".open").setAttribute("aria-expanded", String(opens));
  };

  const restart = () => { state.shown = PAGE; draw(); };
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  find("controls").addEventListener("input", restart);
  find("more").addEventListener("click", () => { state.shown += PAGE; draw(); });
  window.matchMedia("(max-width: 620px)").addEventListener("change", draw);
  draw();

  // ---- the review budget ----
  const points = read("budget-data");
  const last = points[points.length - 1];
  const at = (budget) => {
    const upper = Math.max(1, points.findIndex((point) => point.budget >= budget));
    const [a, b] = [points[upper - 1], points[upper]];
    const share = b.budget > a.budget ? (budget - a.budget) / (b.budget - a.budget) : 0;
    const mix = (key) => a[key] + share * (b[key] - a[key]);
    return { mean: mix("mean"), low: mix("low"), high: Math.min(budget, mix("high")) };
  };
  const move = (budget, mean) => {
    const group = find("budget-marker");
    const { left, right, top, bottom, horizon, highest } = Object.fromEntries(Object.entries(group.dataset).map(([name, value]) => [name, Number(value)]));
    const x = left + Math.min(1, budget / horizon) * (right - left);
    const y = bottom - Math.min(1, mean / highest) * (bottom - top);
    group.querySelector("path").setAttribute("d", `M${x} ${bottom}V${y}`);
    group.querySelector("circle").setAttribute("cx", x);
    group.querySelector("circle").setAttribute("cy", y);
  };
  const answer = () => {
    const input = find("budget-input");
    const budget = Math.min(last.budget, Math.floor(Number(input.value)));
    if (input.value === "" || !(budget >= 0)) {
      find("budget-answer").textContent = "Enter a number of rows.";
      return;
    }
    const found = at(budget);
    const share = Math.min(1, found.mean / last.mean);
    find("budget-answer").textContent = last.mean < 0.5 ? "There is probably nothing to find." : `Expect to find about ${commas(found.mean)} wrong ones (between ${commas(Math.floor(found.low))} and ${commas(Math.ceil(found.high))}), ${percent(share)} of all that there probably are.`;
    move(budget, found.mean);
  };
  find("budget-form").addEventListener("submit", (event) => event.preventDefault());
  find("budget-input").addEventListener("input", answer);
  for (const button of document.querySelectorAll("[data-budget]")) {
    button.addEventListener("click", () => { find("budget-input").value = button.dataset.budget; answer(); });
  }

  // Settings are folded on screen and open on paper.
  window.addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
})();
