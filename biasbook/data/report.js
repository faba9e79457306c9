'use strict';
// Tables are plain without this script. It makes their heads sort and their rows filter, and says what scrolls.
function number(cell) { return cell.hasAttribute('data-value') ? parseFloat(cell.getAttribute('data-value')) : NaN; }

function compare(a, b, column, numeric, sign) {
  const [x, y] = [a, b].map(row => row.cells[column]);
  if (!numeric) return sign * x.textContent.localeCompare(y.textContent, 'en', { numeric: true });
  const [u, v] = [number(x), number(y)];
  if (isNaN(u) || isNaN(v)) return isNaN(u) - isNaN(v);      // what is missing comes last, in both directions
  return sign * (u < v ? -1 : u > v ? 1 : 0);
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const numeric = head.classList.contains('number');
      body.append(...[...body.rows].sort((a, b) => compare(a, b, column, numeric, up ? 1 : -1)));
    });
  });
}

function filterable(table) {
  const rows = [...table.tBodies[0].rows], box = document.createElement('div');
  const label = document.createElement('label'), input = document.createElement('input'), count = document.createElement('output');
  input.type = 'search';
  input.id = table.id + '-filter';
  label.htmlFor = count.htmlFor = input.id;
  label.textContent = 'Filter rows';
  box.className = 'filter';
  box.append(label, input, count);
  function apply() {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !wanted.every(word => row.textContent.toLowerCase().includes(word));
    const n = rows.filter(row => !row.hidden).length;
    count.textContent = `${n} of ${rows.length} rows`;
  }
  input.addEventListener('input', apply);
  apply();
  table.parentElement.before(box);
}

for (const table of document.querySelectorAll('table.sort')) {
  sortable(table);
  if (table.tBodies[0].rows.length > 5) filterable(table);
}

// A box that holds more than it shows says so.
function measure() {
  for (const box of document.querySelectorAll('.wide, .own')) box.classList.toggle('over', box.scrollWidth > box.clientWidth + 1);
}
measure();
for (const event of ['load', 'resize']) addEventListener(event, measure);
document.addEventListener('toggle', measure, true);          // what was folded had no width
