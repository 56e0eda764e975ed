// The editor: changes types, adds, removes and moves fields in place. Pages work without this script.
'use strict';

const editor = document.getElementById('editor');
if (editor) {
  // Warns before leaving the page with unsaved changes.
  let isSubmitted = false;
  let isChanged = document.getElementById('problems') !== null;
  editor.addEventListener('input', () => { isChanged = true; });
  window.addEventListener('beforeunload', (event) => {
    if (isChanged && !isSubmitted) event.preventDefault();
  });

  const announce = () => document.dispatchEvent(new Event('hearth:replaced'));

  // Changes of rows: the server renders the form, and the script takes the rows from its response, so that the page stays where it
  // is. When that fails, as when the session has ended, the form is submitted as without this script.
  const types = editor.querySelector('[data-types]');
  const policy = window.trustedTypes?.createPolicy('hearth-edit', { createHTML: (html) => html })
    ?? { createHTML: (html) => html };
  // The styles of color chips, which the response declares in its head.
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const render = async (action, signal) => {
    const body = new URLSearchParams(new FormData(editor));
    body.set('do', action);
    const response = await fetch(editor.getAttribute('action'), { method: 'POST', body, redirect: 'error', signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    // A template element runs no scripts, and applies no styles.
    const template = document.createElement('template');
    template.innerHTML = policy.createHTML(await response.text());
    sheet.replaceSync([...template.content.querySelectorAll('style')].map((style) => style.textContent).join('\n'));
    return template.content.getElementById('editor');
  };
  let isPlain = false;
  const submit = (button, error) => {
    if (error.name === 'AbortError') return;
    isPlain = true;
    // The row may be gone.
    if (button) editor.requestSubmit(button);
  };
  // Actions run one after the other, because each sends the rows that the one before has left.
  let last = Promise.resolve();
  let waiting = 0;
  const queue = (action) => {
    waiting += 1;
    last = last.then(() => (isPlain ? null : action())).finally(() => { waiting -= 1; });
  };

  if (types) {
    types.hidden = true;
    const valueField = (row) => row.querySelector('.value [name]');
    const isText = (field) => field?.matches('input, textarea');
    const isType = (field) => field.matches('select[name$="-type"]');
    const rowsOf = (list) => [...list.querySelectorAll('li.row')];
    const fieldsOf = (row) => [...row.querySelectorAll('[name]:not(button, [type="hidden"])')];
    // The text of a row survives types without a text field.
    const texts = new WeakMap();
    const replaceValue = (row, fresh, sent) => {
      const old = valueField(row);
      const isFocused = old !== null && old === document.activeElement;
      row.className = fresh.className;
      row.querySelector('.value').replaceWith(document.importNode(fresh.querySelector('.value'), true));
      const field = valueField(row);
      if (!isText(field)) return;
      if (isText(old) && old.value !== sent) field.value = old.value;
      else if (['', 'true', 'false'].includes(field.value) && texts.has(row)) field.value = texts.get(row);
      if (isFocused) field.focus();
    };
    // The lists of rows with a changed type that the page doesn't show yet.
    const changed = new Set();
    // A type that is chosen while the one before is on its way takes its place.
    let pending = null;
    const changeType = (select) => {
      const row = select.closest('li');
      changed.add(select);
      if (isText(valueField(row))) texts.set(row, valueField(row).value);
      pending?.abort();
      queue(showTypes);
    };
    const showTypes = async () => {
      const sent = new Map([...changed].map((select) => [select, valueField(select.closest('li'))?.value]));
      // Another action has shown them.
      if (sent.size === 0) return;
      pending = new AbortController();
      try {
        const fresh = await render('types', pending.signal);
        for (const element of fresh.querySelectorAll('[autofocus]')) element.removeAttribute('autofocus');
        for (const [select, value] of sent) {
          replaceValue(select.closest('li'), fresh.querySelector(`#${select.id}`).closest('li'), value);
          changed.delete(select);
        }
        announce();
      } catch (error) {
        submit(types, error);
      } finally {
        pending = null;
      }
    };
    // The element of a fresh row that takes the place of one of the row before.
    const twin = (element, fresh) => fresh.querySelector(element.matches('button[name]')
      ? `button[value^="${element.value.replace(/\d+$/, '')}"]`
      : `[name$="${/-\w+$/.exec(element.name)?.[0] ?? '-value'}"]:not([type="hidden"])`);
    const focusTwin = (element, fresh) => {
      const field = twin(element, fresh) ?? fresh.querySelector('button');
      field?.focus();
      if (element.selectionStart != null && field?.selectionStart != null) field.setSelectionRange(element.selectionStart, element.selectionEnd);
    };
    // The rows that fresh ones have replaced.
    const replaced = new WeakMap();
    const current = (row) => (replaced.has(row) ? current(replaced.get(row)) : row);
    // The field that the last action has focused.
    let given = null;
    const changeRows = async (verb, origin, clicked) => {
      const list = document.getElementById('rows');
      const rows = rowsOf(list);
      const number = origin === null ? -1 : rows.indexOf(current(origin));
      // Another action has removed the row.
      if (origin !== null && number < 0) return;
      const action = origin === null ? verb : `${verb}-${number}`;
      const sent = new Map(rows.flatMap(fieldsOf).map((field) => [field, field.value]));
      changed.clear();
      try {
        const fresh = document.importNode((await render(action)).querySelector('#rows'), true);
        const focused = fresh.querySelector('[autofocus]');
        focused?.removeAttribute('autofocus');
        document.getElementById('problems')?.remove();
        const active = document.activeElement;
        const freshOf = new Map(rowsOf(fresh).map((row) => [row.dataset.from, row]));
        // The values typed and chosen meanwhile.
        const edits = [];
        for (const [index, row] of rows.entries()) {
          const next = freshOf.get(`${index}`);
          if (!next) continue;
          replaced.set(row, next);
          if (texts.has(row)) texts.set(next, texts.get(row));
          for (const field of fieldsOf(row)) {
            const target = sent.get(field) === field.value ? null : twin(field, next);
            if (target) edits.push([target, field.value]);
          }
        }
        list.replaceWith(fresh);
        isChanged = true;
        changed.clear();
        for (const [field, value] of edits) {
          field.value = value;
          // The pickers follow.
          field.dispatchEvent(new Event('input', { bubbles: true }));
          if (isType(field)) changed.add(field);
        }
        announce();
        const isElsewhere = ![clicked, given, document.body].includes(active) || (sent.has(active) && sent.get(active) !== active.value);
        const row = active.closest('li.row');
        if (!isElsewhere || (list.contains(active) && !replaced.has(row))) {
          focused?.focus();
          given = focused;
        } else if (list.contains(active)) {
          focusTwin(active, replaced.get(row));
        }
      } catch (error) {
        // The number of the row is that of now.
        submit(editor.querySelector(`button[name="do"][value="${action}"]`), error);
      }
    };
    editor.addEventListener('change', ({ target }) => {
      if (isType(target)) changeType(target);
    });
    editor.addEventListener('submit', (event) => {
      const { submitter } = event;
      if (isPlain) return;
      const verb = /^(add|remove|up|down|paste)\b/.exec(submitter?.value ?? '')?.[0];
      // A save comes after the actions before it.
      if (!verb && waiting === 0) return;
      event.preventDefault();
      if (verb) {
        const [row, clicked] = [submitter.closest('li.row'), document.activeElement];
        queue(() => changeRows(verb, row, clicked));
      } else {
        queue(() => submit(submitter, {}));
      }
    });
  }
  editor.addEventListener('submit', (event) => { isSubmitted = !event.defaultPrevented; });
}
