// Editing of a single value beside its cell, in the form of the page that its link leads to. Without this script, the link opens
// that page. A double click on a cell of a table does the same as the link.
'use strict';

(() => {
  const policy = window.trustedTypes?.createPolicy('hearth-inline', { createHTML: (html) => html }) ?? { createHTML: (html) => html };
  const sheet = new CSSStyleSheet();
  // The colors of a row that was saved.
  const colors = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet, colors);
  // A template element runs no scripts, and applies no styles.
  const parse = (html) => {
    const template = document.createElement('template');
    template.innerHTML = policy.createHTML(html);
    return template.content;
  };
  // The form of a page of the editor; null if it is another page, as after the session has ended.
  const formOf = async (response) => {
    const page = parse(await response.text());
    const form = page.getElementById('value-editor');
    if (form) sheet.replaceSync([...page.querySelectorAll('style')].map((style) => style.textContent).join('\n'));
    return form && document.importNode(form, true);
  };

  let panel = null;
  // Updates of the page replace cells, but keep rows.
  let row = null;
  let column = 0;
  let opener = null;
  let isChanged = false;
  const close = () => {
    panel?.remove();
    panel = null;
    if (opener?.isConnected) opener.focus();
  };
  // Below the cell, within the window.
  const place = () => {
    const box = row.cells[column].getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const isReversed = getComputedStyle(document.body).direction === 'rtl';
    const start = isReversed ? box.right - panel.offsetWidth : box.left;
    panel.style.left = `${Math.max(8, Math.min(start, width - panel.offsetWidth - 8)) + scrollX}px`;
    panel.style.top = `${box.bottom + scrollY}px`;
  };
  const show = (form) => {
    const marked = form.querySelectorAll('[autofocus]');
    for (const element of marked) element.removeAttribute('autofocus');
    panel.replaceChildren(form);
    document.dispatchEvent(new Event('hearth:replaced'));
    form.querySelector('[data-types]').hidden = true;
    place();
    const field = form.querySelector('.problems') ?? marked[0]
      ?? form.querySelector('.value :is(input, textarea, select)') ?? form.querySelector('select');
    field.focus();
    if (field.matches('input, textarea')) field.select();
    panel.scrollIntoView({ block: 'nearest' });
  };

  const open = async (link, target) => {
    const followed = document.activeElement;
    try {
      const response = await fetch(link.href);
      const form = response.ok ? await formOf(response) : null;
      if (!form) throw new Error(`status ${response.status}`);
      close();
      row = target.closest('tr');
      column = target.cellIndex;
      opener = row.contains(followed) ? followed : row.querySelector('th a');
      isChanged = false;
      panel = document.createElement('div');
      panel.className = 'inline-editor';
      panel.setAttribute('role', 'dialog');
      panel.setAttribute('aria-labelledby', 'value-path');
      document.body.append(panel);
      show(form);
    } catch {
      location.assign(link.href);
    }
  };

  // Shows what was saved: the row as a reload of the page has it, and the message with the button that undoes it. The message is on
  // the page of the document, which may lack the row.
  const showSaved = async (url) => {
    const load = async (address) => parse(await (await fetch(address)).text());
    const pages = [await load(url.pathname)];
    if (location.pathname + location.search !== url.pathname) pages.push(await load(location.href));
    const fresh = pages.at(-1);
    const key = `tr[data-key="${CSS.escape(row.dataset.key)}"]`;
    const cells = [...fresh.querySelector(key)?.cells ?? []];
    const isSame = cells.length === row.cells.length
      && fresh.querySelectorAll('tr[data-key]').length === document.querySelectorAll('tr[data-key]').length;
    if (!isSame) {
      location.reload();
      return;
    }
    const rules = [...fresh.querySelectorAll('style')].map((style) => style.textContent).join('\n');
    colors.replaceSync(rules);
    const head = cells.findIndex((one) => one.localName === 'th');
    [...row.cells].forEach((old, index) => { if (index > head) old.replaceWith(document.importNode(cells[index], true)); });
    // The version that the box of the row submits.
    const box = row.querySelector('input[name="row"]');
    if (box) box.value = fresh.querySelector(key).querySelector('input[name="row"]').value;
    document.querySelector('.flash')?.remove();
    const flash = pages[0].querySelector('.flash');
    if (flash) {
      flash.classList.add('toast');
      // Undoing returns to this page.
      const next = document.createElement('input');
      [next.type, next.name, next.value] = ['hidden', 'next', location.pathname + location.search];
      flash.querySelector('form')?.append(next);
      document.getElementById('main').prepend(document.importNode(flash, true));
    }
    document.dispatchEvent(new Event('hearth:replaced'));
  };

  const submit = async (form, body) => {
    const url = new URL(form.getAttribute('action'), location.href);
    try {
      const response = await fetch(url, { method: 'POST', body, redirect: 'manual' });
      if (response.type === 'opaqueredirect') {
        close();
        showSaved(url).catch(() => location.reload());
        return;
      }
      const fresh = await formOf(response);
      if (!fresh) throw new Error(`status ${response.status}`);
      show(fresh);
    } catch {
      // As without this script.
      form.submit();
    }
  };
  const bodyOf = (form, action) => {
    const body = new URLSearchParams(new FormData(form));
    body.set('do', action);
    return body;
  };

  // On the page of the editor itself, a type applies when it is chosen.
  document.querySelector('#value-editor [data-types]')?.setAttribute('hidden', '');
  document.addEventListener('submit', (event) => {
    if (!panel?.contains(event.target)) return;
    event.preventDefault();
    submit(event.target, bodyOf(event.target, 'save'));
  });
  document.addEventListener('input', ({ target }) => { if (panel?.contains(target)) isChanged = true; });
  document.addEventListener('change', ({ target }) => {
    const form = target.closest?.('#value-editor');
    if (!form || !target.matches('select[name$="-type"]')) return;
    if (panel?.contains(form)) submit(form, bodyOf(form, 'types'));
    else form.requestSubmit(form.querySelector('[data-types]'));
  });
  document.addEventListener('keydown', (event) => {
    if (!panel?.contains(event.target)) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      close();
    } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.target.matches('textarea')) {
      // As in the cells of a spreadsheet; Shift and Enter breaks the line.
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });
  document.addEventListener('click', (event) => {
    const { target } = event;
    if (panel?.contains(target)) {
      if (!target.closest('[data-cancels]')) return;
      event.preventDefault();
      close();
      return;
    }
    const link = target.closest?.('a.edit-value');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link, link.closest('td'));
  });
  document.addEventListener('pointerdown', ({ target }) => {
    if (panel && !isChanged && !panel.contains(target)) close();
  });
  document.addEventListener('dblclick', ({ target }) => {
    const link = target.closest?.('td')?.querySelector('a.edit-value');
    if (!link || target.closest('a, button, summary')) return;
    getSelection()?.removeAllRanges();
    open(link, link.closest('td'));
  });
  addEventListener('resize', () => { if (panel) place(); });
})();
