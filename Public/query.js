// The query builder: adds and removes rows without leaving the page, and keeps saved and recent queries in the browser. The form works
// without this script.
'use strict';

(() => {
  const builder = () => document.getElementById('builder');
  if (!builder()) return;
  const policy = window.trustedTypes?.createPolicy('hearth-query', { createHTML: (html) => html })
    ?? { createHTML: (html) => html };
  const focusedNames = { add: 'f', group: 'f', order: 'o', remove: 'f', unorder: 'o' };
  // The server renders the form with the row added or removed.
  document.addEventListener('submit', async (event) => {
    const [form, button] = [event.target, event.submitter];
    if (form !== builder() || !(button?.name in focusedNames)) return;
    event.preventDefault();
    const { name, value } = button;
    const url = `${form.getAttribute('action')}?${new URLSearchParams(new FormData(form, button))}`;
    try {
      const response = await fetch(url, { redirect: 'error' });
      if (!response.ok) throw new Error(`status ${response.status}`);
      // A template element runs no scripts.
      const template = document.createElement('template');
      template.innerHTML = policy.createHTML(await response.text());
      const fresh = document.importNode(template.content.getElementById('builder'), true);
      form.replaceWith(fresh);
      const within = name === 'add' ? fresh.querySelectorAll('.group')[value] : fresh;
      const fields = [...within.querySelectorAll(`[name="${focusedNames[name]}"]`)];
      const isRemoval = name === 'remove' || name === 'unorder';
      (isRemoval ? fields[Math.min(value, fields.length - 1)] : fields.at(name === 'group' ? -2 : -1))?.focus();
    } catch {
      // As without this script.
      location.assign(url);
    }
  });
})();

// Saved and recent queries, in the storage of the browser: those of the chosen collection are listed, or all if none has been chosen.
(() => {
  const section = document.getElementById('kept-queries');
  if (!section) return;
  const form = document.getElementById('builder');
  const maximumCount = { saved: 100, recent: 30 };
  const shownCount = 10;
  // Each database has its own form, and each key its own lists.
  const key = (kind) => `hearth-queries-${kind}:${section.dataset.owner}:${form.getAttribute('action')}`;
  // Another key may have been used before, without a sign-out.
  try {
    for (const other of Object.keys(localStorage)) {
      if (other.startsWith('hearth-queries-recent:') && !other.startsWith(`hearth-queries-recent:${section.dataset.owner}:`)) {
        localStorage.removeItem(other);
      }
    }
  } catch {
    // Without storage there are none.
  }
  const read = (kind) => {
    try {
      const list = JSON.parse(localStorage.getItem(key(kind)) ?? '[]');
      return Array.isArray(list) ? list.filter(({ query, name }) => typeof query === 'string' && typeof name === 'string') : [];
    } catch {
      return [];
    }
  };
  const write = (kind, list) => {
    try {
      localStorage.setItem(key(kind), JSON.stringify(list.slice(0, maximumCount[kind])));
      return true;
    } catch {
      return false;
    }
  };
  const current = new URLSearchParams(location.search);
  current.delete('explain');
  const query = current.toString();
  const collection = (text) => {
    const items = new URLSearchParams(text);
    return `${items.get('scope') === 'group' ? 'group' : 'collection'} ${items.get('in')}`;
  };
  const shownCollection = collection(new URLSearchParams(new FormData(form)).toString());
  // Without a choice, the form begins with some collection.
  const isChosen = Boolean(current.get('in'));
  const isListed = (text) => !isChosen || collection(text) === shownCollection;
  const label = (text) => {
    const items = new URLSearchParams(text);
    const [ops, values, directions] = ['op', 'v', 'd'].map((name) => items.getAll(name));
    const filters = items.getAll('f').map((field, at) => `${field} ${ops[at] ?? ''} ${values[at] ?? ''}`);
    const orders = items.getAll('o').map((field, at) => `${directions[at] === 'desc' ? '↓' : '↑'} ${field}`);
    return [items.get('in'), ...filters, ...orders].filter(Boolean).join(' · ');
  };
  const show = () => {
    for (const kind of ['saved', 'recent']) {
      const list = section.querySelector(`[data-kind="${kind}"]`);
      const kept = read(kind).filter((item) => isListed(item.query)).slice(0, kind === 'saved' ? undefined : shownCount);
      list.replaceChildren(...kept.map((item) => {
        const row = section.querySelector('template').content.cloneNode(true).firstElementChild;
        const link = row.querySelector('a');
        link.href = `${form.getAttribute('action')}?${item.query}#results`;
        const name = isChosen ? item.name : [new URLSearchParams(item.query).get('in'), item.name].filter(Boolean).join(' · ');
        link.textContent = item.name ? name : label(item.query);
        const button = row.querySelector('button');
        button.setAttribute('aria-label', `${button.textContent}: ${link.textContent}`);
        button.addEventListener('click', () => {
          write(kind, read(kind).filter(({ query, name }) => query !== item.query || name !== item.name));
          show();
          section.querySelector('summary').focus();
        });
        return row;
      }));
      list.parentElement.hidden = kept.length === 0;
    }
  };
  const isValid = document.getElementById('params-json') !== null;
  if (isValid && query) {
    write('recent', [{ query, name: '' }, ...read('recent').filter((item) => item.query !== query)]);
  }
  const saving = section.querySelector('form');
  saving.hidden = !isValid || !query;
  saving.addEventListener('submit', (event) => {
    event.preventDefault();
    const name = saving.elements.name.value.trim();
    if (!name) return;
    if (write('saved', [{ query, name }, ...read('saved').filter((item) => item.name !== name || collection(item.query) !== shownCollection)])) {
      saving.reset();
    }
    show();
  });
  show();
  section.hidden = false;
})();
