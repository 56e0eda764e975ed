// Keyboard shortcuts: `/` focuses the search box, `f` the filter, `j` and `k` move between table rows, `?` opens the list of
// shortcuts, where they can be disabled. Ctrl+Enter or Cmd+Enter in a form runs its query, or saves or deploys its contents. Pages
// work without this script; the button in the footer then stays hidden.
'use strict';

{
  const dialog = document.getElementById('keys');
  const opener = document.querySelector('button[data-opens="keys"]');
  const enabled = dialog.querySelector('input[type="checkbox"]');
  const storage = 'hearth-keys';
  const read = () => { try { return localStorage.getItem(storage); } catch { return null; } };
  const write = (value) => { try { localStorage.setItem(storage, value); } catch { /* Storage is blocked: the setting applies to this page only. */ } };

  // The links of the table rows, with a roving tabindex: one is in the tab order, shortcuts move to the others.
  const links = () => [...document.querySelectorAll('table.documents:not(.index) > tbody > tr > th a')];
  const setTabStop = (current) => {
    for (const link of links()) {
      if (current && link !== current) link.tabIndex = -1;
      else link.removeAttribute('tabindex');
    }
  };
  const moveFocus = (by) => {
    const all = links();
    const at = all.indexOf(document.activeElement.closest('tr')?.querySelector('th a'));
    const next = all[Math.min(Math.max(at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by, 0), all.length - 1)];
    if (!next) return;
    setTabStop(next);
    next.focus();
    next.closest('tr').scrollIntoView({ block: 'nearest' });
  };

  const focusSearch = () => {
    const field = document.getElementById('find');
    field?.focus();
    field?.select();
  };
  // The filter form may be collapsed.
  const focusFilter = () => {
    const field = document.querySelector('details.filters input[name="f"]');
    field?.closest('details')?.setAttribute('open', '');
    field?.focus();
  };

  const apply = () => setTabStop(enabled.checked ? links()[0] : null);
  enabled.checked = read() !== 'off';
  apply();
  enabled.addEventListener('change', () => {
    write(enabled.checked ? 'on' : 'off');
    apply();
  });
  document.addEventListener('focusin', ({ target }) => {
    if (enabled.checked && links().includes(target)) setTabStop(target);
  });

  opener.hidden = false;
  opener.addEventListener('click', () => dialog.showModal());
  dialog.querySelector('button[data-closes]').addEventListener('click', () => dialog.close());

  // The shortcut for the main button of a form.
  document.addEventListener('keydown', (event) => {
    if (!enabled.checked || event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.isComposing) return;
    if (event.defaultPrevented || event.repeat || dialog.open) return;
    const button = event.target.closest('form')?.querySelector('button[aria-keyshortcuts~="Control+Enter"]');
    if (!button) return;
    event.preventDefault();
    button.form.requestSubmit(button);
  });

  const isTyping = (element) => element.matches('input:not([type="checkbox"], [type="radio"]), textarea, select') || element.isContentEditable;
  document.addEventListener('keydown', (event) => {
    if (!enabled.checked || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (dialog.open || isTyping(event.target)) return;
    const action = {
      '/': focusSearch,
      f: focusFilter,
      '?': () => dialog.showModal(),
      j: () => moveFocus(1),
      k: () => moveFocus(-1),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
