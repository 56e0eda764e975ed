// Follows what the page shows, over one stream while it is seen. The stream brings rows and parts as the page would show them; what
// differs is put in place at once. Nothing is inserted, moved or scrolled, and what somebody is using stays until it is let go.
'use strict';

(() => {
  const live = document.getElementById('live');
  if (!live) return;
  const texts = live.dataset;
  const status = live.querySelector('[role="status"]');
  const body = document.querySelector('table[data-live]')?.tBodies[0];
  const rows = new Map([...body?.rows ?? []].map((row) => [row.dataset.key, row]));
  const language = document.documentElement.lang;

  // What the page has not: rows and columns to load it again for. What could not be told, and whether and why nothing is told any
  // more.
  const added = new Set();
  const fields = new Set();
  let isOutdated = false;
  let isLost = false;
  let why = '';
  // How many rows have changed, as who can't see it was told last.
  let heard = '';
  let said = '';

  const say = () => {
    const counts = [[texts.added, added.size], [texts.fields, fields.size]].filter(([, count]) => count > 0)
      .map(([text, count]) => `${text}: ${count.toLocaleString(language)}`);
    const stale = isLost ? [why, texts.stale].filter(Boolean).join(' ') : '';
    const line = counts.join(' · ') || (isOutdated && texts.other) || stale;
    if (said === (line || heard)) return;
    said = line || heard;
    const text = document.createElement('span');
    text.textContent = said;
    if (!line) text.className = 'unseen';
    status.replaceChildren(text);
    if (!line) return;
    const link = document.createElement('a');
    link.href = location.href;
    link.textContent = line === stale ? texts.load : texts.show;
    status.append(' ', link);
  };

  // Of all that came within a moment at once.
  let changed = 0;
  const count = () => {
    changed += 1;
    if (changed > 1) return;
    setTimeout(() => {
      heard = `${texts.changed}: ${changed.toLocaleString(language)}`;
      changed = 0;
      // The same is news again.
      said = '';
      say();
    }, 500);
  };

  const policy = window.trustedTypes?.createPolicy('hearth-live', { createHTML: (html) => html })
    ?? { createHTML: (html) => html };
  // In a template nothing runs or is loaded, and rows may stand for themselves.
  const parse = (html) => {
    const template = document.createElement('template');
    template.innerHTML = policy.createHTML(html);
    return document.importNode(template.content, true);
  };

  // The page's own styles are allowed by a word that isn't this script's, which has a sheet of its own.
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const styles = new Set();
  const style = (rule) => {
    if (styles.has(rule)) return;
    styles.add(rule);
    sheet.insertRule(rule);
  };

  // The copy buttons are shown by another script, which is no difference.
  const html = (element) => element.outerHTML.replaceAll(' hidden=""', '');
  const isInUse = (element) => element.contains(document.activeElement) || element.querySelector('details[open]') !== null
    || (getSelection()?.type === 'Range' && getSelection().containsNode(element, true));

  // What is in use, with what it will be.
  const waiting = new Map();
  const replace = (old, fresh) => {
    if (isInUse(old)) waiting.set(old, fresh);
    else {
      waiting.delete(old);
      old.replaceWith(fresh);
    }
  };
  const settle = () => setTimeout(() => {
    for (const [old, fresh] of waiting) replace(old, fresh);
  });
  for (const type of ['focusout', 'selectionchange', 'toggle']) document.addEventListener(type, settle, true);

  const mark = (row, text) => {
    row.querySelector('.just-now')?.remove();
    const note = document.createElement('span');
    note.className = 'just-now';
    note.textContent = text;
    row.cells[0].append(' ', note);
    row.classList.remove('fresh');
    // Begins the animation anew.
    void row.offsetWidth;
    row.classList.add('fresh');
    return note;
  };

  const update = (row, fresh) => {
    if (row.classList.contains('gone')) {
      row.classList.remove('gone');
      row.querySelector('.just-now')?.remove();
    }
    // The line of what is no document has no cells for one.
    if (row.cells.length !== fresh.cells.length) {
      isOutdated = true;
      return;
    }
    const [box, theirs] = [row, fresh].map((one) => one.querySelector('input[name="row"]'));
    // A tick is of what was seen when it was set.
    if (box && theirs && !box.checked) box.value = theirs.value;
    const pairs = [...row.cells].map((cell, index) => [cell, fresh.cells[index]]).slice(1)
      .filter(([old, cell]) => html(waiting.get(old) ?? old) !== html(cell));
    for (const [old, cell] of pairs) replace(old, cell);
    if (pairs.length === 0) return;
    const note = mark(row, texts.changed);
    setTimeout(() => note.remove(), 10_000);
    count();
  };

  const remove = (row) => {
    if (row.classList.contains('gone')) return;
    row.classList.add('gone');
    mark(row, texts.gone);
    count();
  };

  // The keys of all that there is, while that is told anew.
  let told = null;
  const removeOthers = (keys) => {
    for (const [key, row] of rows) if (!keys.has(key) && !row.classList.contains('missing')) remove(row);
    for (const key of added) if (!keys.has(key)) added.delete(key);
  };

  const put = (frame) => {
    frame.styles.forEach(style);
    const fresh = [...parse(frame.rows).children];
    const keys = new Set(fresh.map((row) => row.dataset.key));
    for (const row of fresh) {
      const { key } = row.dataset;
      if (rows.has(key)) update(rows.get(key), row);
      else added.add(key);
      told?.add(key);
    }
    if (frame.isWhole) removeOthers(keys);
    frame.fields.forEach((field) => fields.add(field));
    document.querySelectorAll('[data-live-part]').forEach((part, index) => {
      const html = frame.parts[index];
      if (html !== undefined && !isInUse(part)) part.replaceChildren(parse(html));
    });
    document.dispatchEvent(new Event('hearth:replaced'));
    say();
  };

  const gone = ({ key }) => {
    if (rows.has(key)) remove(rows.get(key));
    else if (!added.delete(key)) isOutdated = true;
    say();
  };

  const sign = () => {
    isOutdated = true;
    say();
  };

  const reset = () => { told = new Set(); };

  const current = () => {
    if (told) removeOthers(told);
    told = null;
    checkpoint();
  };

  let source = null;
  let token = null;
  let retry = 0;
  const firstDelay = 5_000;
  let delay = firstDelay;

  const checkpoint = () => {
    delay = firstDelay;
    isLost = false;
    why = '';
    say();
  };

  const close = () => {
    clearTimeout(retry);
    source?.close();
    source = null;
  };

  // A browser tries again by itself where a stream has broken, but not where it was refused.
  const lose = (frame) => {
    close();
    isLost = true;
    why = frame?.why ?? '';
    say();
    retry = setTimeout(open, delay);
    delay = Math.min(delay * 2, 120_000);
  };

  // The server stops for a while, or whoever looks has been signed out.
  const end = ({ reason }) => { if (reason !== 'shutdown') lose(); };

  const open = () => {
    if (source || document.hidden) return;
    clearTimeout(retry);
    const url = new URL(texts.stream, location.href);
    if (token) url.searchParams.set('live', token);
    source = new EventSource(url);
    for (const [type, take] of Object.entries({ put, gone, sign, reset, current, checkpoint, end, failed: lose })) {
      source.addEventListener(type, (event) => {
        token = event.lastEventId || token;
        take(JSON.parse(event.data));
      });
    }
    source.addEventListener('error', ({ target }) => { if (target === source && target.readyState === EventSource.CLOSED) lose(); });
  };

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
})();
