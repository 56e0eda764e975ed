// Folding of maps and arrays of a document, and of its editor. Without this script those of a document's fields fold, by the style sheet.
'use strict';

(() => {
  const depth = (row) => Number(/\bdepth-(\d+)\b/.exec(row.className)?.[1] ?? 0);
  const selector = 'table.fields, .editor ul.rows';
  const rowsOf = (list) => [...list.querySelectorAll(':scope > tbody > tr, :scope > li')];
  const toggleOf = (row) => row.querySelector(':scope > :first-of-type > .fold-toggle, :scope > .name > .fold-toggle');
  const update = (list) => {
    let limit = Infinity;
    for (const row of rowsOf(list)) {
      if (depth(row) <= limit) limit = Infinity;
      row.hidden = limit !== Infinity;
      if (limit === Infinity && toggleOf(row)?.open === false) limit = depth(row);
    }
  };
  const add = () => {
    for (const list of document.querySelectorAll(selector)) {
      list.dataset.folds = '';
      const rows = rowsOf(list);
      rows.forEach((row, index) => {
        const isContainer = index + 1 < rows.length && depth(rows[index + 1]) > depth(row);
        const toggle = toggleOf(row);
        if (isContainer === Boolean(toggle)) return;
        if (toggle) {
          toggle.remove();
          return;
        }
        const details = document.createElement('details');
        details.className = 'fold-toggle';
        details.open = true;
        const summary = document.createElement('summary');
        const name = row.querySelector('.name, .index, .position');
        summary.setAttribute('aria-label', name?.querySelector('input')?.value || name?.textContent.trim() || '');
        details.append(summary);
        (row.querySelector(':scope > th') ?? row.querySelector('.cell.name')).prepend(details);
      });
      update(list);
    }
  };
  // A list is updated once for the events of a frame: each toggle that `add` inserts has one.
  const changed = new Set();
  // `toggle` doesn't bubble.
  document.addEventListener('toggle', ({ target }) => {
    const list = target.matches?.('.fold-toggle') && target.closest(selector);
    if (!list) return;
    if (!changed.size) {
      requestAnimationFrame(() => {
        changed.forEach(update);
        changed.clear();
      });
    }
    changed.add(list);
  }, true);
  document.addEventListener('hearth:replaced', add);
  add();
})();
