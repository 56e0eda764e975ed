// Links in the cell under the pointer that filter the table by its value and edit it. Without this script, the link “Filter by a value”
// above the table adds them to all cells.
'use strict';

(() => {
  const table = document.querySelector('table[data-only]');
  if (!table || !matchMedia('(hover: hover)').matches) return;
  const links = document.createElement('span');
  links.className = 'value-filters floating';
  // Outside of the cell, which is cut off, so that the first click of a double click never is on a link.
  const panel = document.createElement('span');
  panel.className = 'links';
  links.append(panel);
  const [only, not] = ['only', 'not'].map((name) => {
    const link = document.createElement('a');
    link.className = name;
    link.title = table.dataset[name];
    link.setAttribute('aria-label', link.title);
    // The links come and go with the pointer, so they don't take part in the order of the Tab key.
    link.tabIndex = -1;
    panel.append(link);
    return { name, link };
  });
  const edit = document.createElement('a');
  if (table.dataset.edit) {
    edit.className = 'edit-value';
    edit.title = table.dataset.edit;
    edit.setAttribute('aria-label', edit.title);
    edit.tabIndex = -1;
    panel.append(edit);
  }
  // Behind the end of the cell; before its handle if there is no room.
  const place = (cell) => {
    const [box, handle] = [cell.getBoundingClientRect(), links.getBoundingClientRect()];
    const [width, height] = [panel.offsetWidth, panel.offsetHeight];
    const isReversed = getComputedStyle(cell).direction === 'rtl';
    const hasRoom = isReversed ? box.left >= width : box.right + width <= document.documentElement.clientWidth;
    const edge = hasRoom ? box : handle;
    panel.style.left = `${isReversed === hasRoom ? edge.left - width : edge.right}px`;
    panel.style.top = `${box.top + (box.height - height) / 2}px`;
  };
  const show = (cell) => {
    const field = table.tHead.rows[0].cells[cell.cellIndex]?.dataset.field;
    const url = cell.parentElement.dataset.key;
    if (field === undefined || !url || cell.matches('.absent') || cell.parentElement.matches('.missing, .row-removed')) {
      links.remove();
      return;
    }
    for (const { name, link } of [only, not]) {
      const target = new URL(location.href);
      for (const item of ['after', 'before', 'at', 'position', 'id', 'page']) target.searchParams.delete(item);
      target.searchParams.set(name, field);
      target.searchParams.set('of', decodeURIComponent(url.slice(url.lastIndexOf('/') + 1)));
      target.hash = '';
      link.href = target.href;
    }
    edit.href = `${url}?value=${encodeURIComponent(field)}`;
    if (links.parentElement === cell) return;
    cell.append(links);
    place(cell);
  };
  table.addEventListener('pointerover', ({ target }) => {
    const cell = target.closest('tbody td');
    if (cell) show(cell);
    else links.remove();
  });
  table.addEventListener('pointerleave', () => links.remove());
  // The links are placed in the window.
  addEventListener('scroll', () => links.remove(), { capture: true, passive: true });
})();
