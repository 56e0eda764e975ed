// Columns of a table: dragging the end of a head changes the width, a double click there resets it, and dragging a head moves the column.
// The browser keeps the layout by the form “Columns”, which does the same without this script.
'use strict';

(() => {
  const form = document.getElementById('column-form');
  const head = document.querySelector('table.documents[data-live] thead');
  if (!form || !head) return;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const fieldOf = (cell) => cell.dataset.field ?? '__name__';
  // One change after the other, because each depends on the cookie of the one before.
  let kept = Promise.resolve();
  const keep = (cell, width) => {
    const body = new URLSearchParams({ do: 'width', field: fieldOf(cell), width, next: location.pathname });
    // Without a connection, the width lasts until the page is left.
    kept = kept.then(() => fetch(form.action, { method: 'POST', body, redirect: 'manual' })).catch(() => {});
    return kept;
  };

  const rules = new Map();
  const show = (cell, width) => {
    rules.set(cell.cellIndex + 1, width);
    sheet.replaceSync([...rules].map(([number, pixels]) => `.documents :is(th,td):nth-child(${number}):where(:not([colspan]))`
      + `{width:${pixels}px;min-width:${pixels}px;max-width:${pixels}px}`).join('\n'));
  };
  const range = form.querySelector('input[name="width"]');
  const clamp = (width) => Math.round(Math.min(Math.max(width, range?.min ?? 48), range?.max ?? 1200));

  for (const cell of head.querySelectorAll('th')) {
    const handle = document.createElement('span');
    handle.className = 'resize';
    // The form “Columns” is what the keyboard and screen readers have.
    handle.setAttribute('aria-hidden', 'true');
    let start = null;
    handle.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      start = { x: event.clientX, width: cell.getBoundingClientRect().width, shown: null };
    });
    handle.addEventListener('pointermove', ({ clientX }) => {
      if (!start) return;
      const sign = getComputedStyle(cell).direction === 'rtl' ? -1 : 1;
      start.shown = clamp(start.width + sign * (clientX - start.x));
      show(cell, start.shown);
    });
    const end = () => {
      const width = start?.shown;
      start = null;
      if (!width) return;
      keep(cell, width);
      const input = [...form.querySelectorAll('input[name="field"]')].find(({ value }) => value === fieldOf(cell))
        ?.closest('li').querySelector('input[name="width"]');
      if (input) input.value = width;
    };
    handle.addEventListener('pointerup', end);
    handle.addEventListener('pointercancel', end);
    handle.addEventListener('dblclick', async () => {
      await keep(cell, '');
      location.reload();
    });
    cell.append(handle);
  }

  // The head that is dragged, by its link or its text.
  let moved = null;
  head.addEventListener('dragstart', (event) => {
    const cell = event.target.closest?.('th[data-field]');
    if (!cell) return;
    moved = cell;
    event.dataTransfer.effectAllowed = 'move';
  });
  head.addEventListener('dragover', (event) => {
    if (moved && event.target.closest?.('th[data-field]')) event.preventDefault();
  });
  head.addEventListener('dragend', () => { moved = null; });
  head.addEventListener('drop', (event) => {
    const target = event.target.closest?.('th[data-field]');
    if (!moved || !target || target === moved) return;
    event.preventDefault();
    const cells = [...head.querySelectorAll('th[data-field]')];
    const order = cells.filter((cell) => cell !== moved);
    order.splice(order.indexOf(target) + (cells.indexOf(moved) < cells.indexOf(target) ? 1 : 0), 0, moved);
    const positions = new Map(order.map((cell, index) => [fieldOf(cell), index + 1]));
    for (const row of form.querySelectorAll('.column-rows li')) {
      row.querySelector('input[name="position"]').value = positions.get(row.querySelector('input[name="field"]').value) ?? '';
    }
    kept.then(() => form.requestSubmit());
  });
})();
