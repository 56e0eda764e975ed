// Single keys: `/` to the search, `j` and `k` through the rows of a table, `?` for the list of keys with the switch to turn them off.
// Pages are whole without this: the button at the foot of the page stays hidden then.
'use strict';

{
  const dialog = document.getElementById('keys');
  const opener = document.querySelector('button[data-opens="keys"]');
  const enabled = dialog.querySelector('input[type="checkbox"]');
  const storage = 'hearth-keys';
  const read = () => { try { return localStorage.getItem(storage); } catch { return null; } };
  const write = (value) => { try { localStorage.setItem(storage, value); } catch { /* Kept for this page alone. */ } };

  // The links that name the rows: one of them is in the order of the Tab key, the others are reached by keys.
  const links = () => [...document.querySelectorAll('table.documents > tbody > tr > th a')];
  const rove = (current) => {
    for (const link of links()) {
      if (current && link !== current) link.tabIndex = -1;
      else link.removeAttribute('tabindex');
    }
  };
  const step = (by) => {
    const all = links();
    const at = all.indexOf(document.activeElement.closest('tr')?.querySelector('th a'));
    const next = all[Math.min(Math.max(at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by, 0), all.length - 1)];
    if (!next) return;
    rove(next);
    next.focus();
    next.closest('tr').scrollIntoView({ block: 'nearest' });
  };

  // What filters the page may be folded away.
  const search = () => {
    const field = document.querySelector('main input[type="search"], details.filters input[name="f"]');
    field?.closest('details')?.setAttribute('open', '');
    field?.focus();
  };

  const apply = () => rove(enabled.checked ? links()[0] : null);
  enabled.checked = read() !== 'off';
  apply();
  enabled.addEventListener('change', () => {
    write(enabled.checked ? 'on' : 'off');
    apply();
  });
  document.addEventListener('focusin', ({ target }) => {
    if (enabled.checked && links().includes(target)) rove(target);
  });

  opener.hidden = false;
  opener.addEventListener('click', () => dialog.showModal());
  dialog.querySelector('button[data-closes]').addEventListener('click', () => dialog.close());

  const isTyping = (element) => element.matches('input:not([type="checkbox"], [type="radio"]), textarea, select') || element.isContentEditable;
  document.addEventListener('keydown', (event) => {
    if (!enabled.checked || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (dialog.open || isTyping(event.target)) return;
    const act = {
      '/': search,
      '?': () => dialog.showModal(),
      j: () => step(1),
      k: () => step(-1),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
