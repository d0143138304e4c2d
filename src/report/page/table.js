// Tables whose heads sort them: numbers as numbers and before texts, the largest first; what is empty comes last. A
// cell that shows fewer digits has them all in data-v.
const valueOf = cell => cell.dataset.v ?? cell.textContent;
const numberOf = text => (text.trim() === "" ? NaN : Number.parseFloat(text));

function compareCells(a, b, direction) {
  const x = numberOf(a), y = numberOf(b);
  if (Number.isNaN(x) && Number.isNaN(y)) return !a - !b || direction * a.localeCompare(b);
  return Number.isNaN(x) ? 1 : Number.isNaN(y) ? -1 : direction * (x - y);
}

function sortable(table) {
  for (const head of table.tHead.rows[0].cells) {
    const button = h("button", {type: "button"}, head.textContent);
    head.replaceChildren(button);
    button.onclick = () => {
      const column = head.cellIndex, direction = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction < 0 ? "descending" : "ascending");
      const body = table.tBodies[0], rows = [...body.rows];
      rows.sort((p, q) => compareCells(valueOf(p.cells[column]), valueOf(q.cells[column]), direction));
      body.append(...rows);
    };
  }
  return table;
}

// heads: "<name" is a column of text. rows: of cells, texts or elements <td>.
function tableOf(heads, rows) {
  const left = heads.map(head => head.startsWith("<"));
  const cell = (value, i) => value instanceof Node ? value : h(left[i] ? "td.text" : "td", value);
  return sortable(h("table.sorted",
    h("thead", h("tr", heads.map((head, i) => h(left[i] ? "th.text" : "th", {scope: "col"}, head.slice(left[i]))))),
    h("tbody", rows.map(row => h("tr", row.map(cell))))));
}

// A cell with a red bar behind its text.
const heat = (part, text, value) =>
  h("td.heat", {"data-v": value}, h("i", {style: {width: percent(100 * Math.min(1, part))}}), h("span", text));

function saveCsv(table, name) {
  const quoted = text => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const text = [...table.rows].map(row => [...row.cells].map(c => quoted(valueOf(c))).join(",")).join("\n") + "\n";
  h("a", {href: URL.createObjectURL(new Blob([text], {type: "text/csv"})), download: name}).click();
}
