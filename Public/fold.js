// Buttons that fold maps and arrays of a document and of its editor. Without this script all of them are shown.
'use strict';

(() => {
  const depth = (row) => Number(/\bdepth-(\d+)\b/.exec(row.className)?.[1] ?? 0);
  const lists = () => [...document.querySelectorAll('table.fields > tbody, .editor ul.rows')];
  const folded = new WeakSet();
  const update = (list) => {
    let limit = Infinity;
    for (const row of list.children) {
      if (depth(row) <= limit) limit = Infinity;
      row.hidden = limit !== Infinity;
      if (limit === Infinity && folded.has(row)) limit = depth(row);
    }
  };
  const add = () => {
    for (const list of lists()) {
      const rows = [...list.children];
      rows.forEach((row, index) => {
        const isContainer = index + 1 < rows.length && depth(rows[index + 1]) > depth(row);
        const old = row.querySelector(':scope > :first-of-type > .fold-toggle, :scope > .name > .fold-toggle');
        if (!isContainer) folded.delete(row);
        if (isContainer === Boolean(old)) return;
        if (old) {
          old.remove();
          return;
        }
        const button = document.createElement('button');
        button.type = 'button';
        button.className = 'fold-toggle';
        button.setAttribute('aria-expanded', 'true');
        const name = row.querySelector('.name, .index, .position');
        button.setAttribute('aria-label', name?.querySelector('input')?.value || name?.textContent.trim() || '');
        (row.querySelector(':scope > th') ?? row.querySelector('.cell.name')).prepend(button);
      });
      update(list);
    }
  };
  document.addEventListener('click', ({ target }) => {
    const button = target.closest?.('.fold-toggle');
    if (!button) return;
    const row = button.closest('tr, li');
    if (!folded.delete(row)) folded.add(row);
    button.setAttribute('aria-expanded', String(!folded.has(row)));
    update(row.parentElement);
  });
  document.addEventListener('hearth:replaced', add);
  add();
})();
