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
  let pending = null;
  const render = async (action) => {
    pending?.abort();
    pending = new AbortController();
    const body = new URLSearchParams(new FormData(editor));
    body.set('do', action);
    const response = await fetch(editor.getAttribute('action'), { method: 'POST', body, redirect: 'error', signal: pending.signal });
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
    editor.requestSubmit(button);
  };

  if (types) {
    types.hidden = true;
    const valueField = (row) => row.querySelector('.value [name]');
    const isText = (field) => field?.matches('input, textarea');
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
    // The rows with a changed type that the page doesn't show yet.
    const changed = new Set();
    const changeType = async (select) => {
      changed.add(select.id);
      const sent = new Map([...changed].map((id) => [id, valueField(document.getElementById(id).closest('li'))?.value]));
      for (const id of changed) {
        const row = document.getElementById(id).closest('li');
        if (isText(valueField(row))) texts.set(row, valueField(row).value);
      }
      try {
        const fresh = await render('types');
        for (const element of fresh.querySelectorAll('[autofocus]')) element.removeAttribute('autofocus');
        for (const id of changed) {
          replaceValue(document.getElementById(id).closest('li'), fresh.querySelector(`#${id}`).closest('li'), sent.get(id));
        }
        changed.clear();
        announce();
      } catch (error) {
        submit(types, error);
      }
    };
    const changeRows = async (button) => {
      try {
        const fresh = await render(button.value);
        document.getElementById('problems')?.remove();
        const rows = document.importNode(fresh.querySelector('#rows'), true);
        const focused = rows.querySelector('[autofocus]');
        focused?.removeAttribute('autofocus');
        document.getElementById('rows').replaceWith(rows);
        changed.clear();
        isChanged = true;
        announce();
        focused?.focus();
      } catch (error) {
        submit(button, error);
      }
    };
    editor.addEventListener('change', ({ target }) => {
      if (target.matches('select[name$="-type"]')) changeType(target);
    });
    editor.addEventListener('submit', (event) => {
      if (isPlain || !/^(add|remove|up|down|paste)\b/.test(event.submitter?.value ?? '')) return;
      event.preventDefault();
      changeRows(event.submitter);
    });
  }
  editor.addEventListener('submit', (event) => { isSubmitted = !event.defaultPrevented; });

  // Moves the cursor to the first error of JSON or rules.
  const code = editor.querySelector('textarea[data-line]');
  if (code) {
    const lines = code.value.split('\n');
    const start = lines.slice(0, code.dataset.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const column = [...(lines[code.dataset.line - 1] ?? '')].slice(0, code.dataset.column - 1).join('').length;
    code.setSelectionRange(start + column, start + column);
    code.scrollTop = code.scrollHeight * (code.dataset.line - 3) / lines.length;
  }
}
