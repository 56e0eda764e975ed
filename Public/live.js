// Live updates: applies changes to the page from an event stream that is open while the page is visible. Events contain rendered rows
// and parts, which replace the ones that differ. Nothing is inserted, moved or scrolled, and an element that is in use is replaced
// only after it is released.
'use strict';

(() => {
  const live = document.getElementById('live');
  if (!live) return;
  const strings = live.dataset;
  const status = live.querySelector('[role="status"]');
  const rows = new Map([...document.querySelectorAll('table[data-live] tr[data-key]')].map((row) => [row.dataset.key, row]));
  const language = document.documentElement.lang;

  // Rows and columns that only a reload shows; whether other content changed; whether and why the stream is disconnected.
  const added = new Set();
  const fields = new Set();
  let hasOtherChanges = false;
  let isDisconnected = false;
  let isLost = false;
  let disconnectReason = '';
  // The page to sign in again, if the session has ended.
  let signInURL = '';
  // The last announcement to screen readers, and the last status.
  let announcement = '';
  let shownStatus = '';

  const updateStatus = () => {
    const counts = [[strings.added, added.size], [strings.fields, fields.size]].filter(([, count]) => count > 0)
      .map(([text, count]) => `${text}: ${count.toLocaleString(language)}`);
    const stale = isDisconnected ? [disconnectReason, strings.stale].filter(Boolean).join(' ') : '';
    const lost = isLost ? strings.lost : '';
    const line = lost || counts.join(' · ') || (hasOtherChanges && strings.other) || stale;
    if (shownStatus === (line || announcement)) return;
    shownStatus = line || announcement;
    const text = document.createElement('span');
    text.textContent = shownStatus;
    if (!line) text.className = 'visually-hidden';
    status.replaceChildren(text);
    status.classList.toggle('lost', isLost);
    if (!line || isLost) return;
    const link = document.createElement('a');
    link.href = (line !== stale && strings.target) || location.href;
    if (link.href !== location.href) link.target = '_blank';
    link.textContent = line === stale ? strings.load : strings.show;
    if (signInURL && line === stale) {
      link.href = `${signInURL}?next=${encodeURIComponent(location.pathname + location.search)}`;
      link.textContent = strings.signIn;
      // An editor keeps its changes.
      if (strings.target) link.target = '_blank';
    }
    status.append(' ', link);
  };

  // Announces the number of changed rows, batched over half a second.
  let changedCount = 0;
  const announceChange = () => {
    changedCount += 1;
    if (changedCount > 1) return;
    setTimeout(() => {
      announcement = `${strings.changed}: ${changedCount.toLocaleString(language)}`;
      changedCount = 0;
      // Repeats an identical announcement.
      shownStatus = '';
      updateStatus();
    }, 500);
  };

  const policy = window.trustedTypes?.createPolicy('hearth-live', { createHTML: (html) => html })
    ?? { createHTML: (html) => html };
  // A template element runs no scripts, loads nothing, and accepts table rows without a table.
  const parse = (html) => {
    const template = document.createElement('template');
    template.innerHTML = policy.createHTML(html);
    return document.importNode(template.content, true);
  };

  // The Content-Security-Policy allows style elements only with a nonce, so the script uses a constructed style sheet.
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const styleRules = new Set();
  const addStyle = (rule) => {
    if (styleRules.has(rule)) return;
    styleRules.add(rule);
    sheet.insertRule(rule);
  };

  // The HTML for comparison. The copy script removes `hidden` from its buttons, and others add local times and the links of the cell
  // under the pointer, which doesn't count as a difference.
  const html = (element) => {
    const copy = element.cloneNode(true);
    copy.querySelector('.value-filters.floating')?.remove();
    return copy.outerHTML.replaceAll(/ hidden=""| data-local="[^"]*"/g, '');
  };
  const isInUse = (element) => element.contains(document.activeElement) || element.querySelector('details[open]') !== null
    || (getSelection()?.type === 'Range' && getSelection().containsNode(element, true));

  // Replacements postponed because the element is in use.
  const pendingReplacements = new Map();
  const replace = (old, fresh) => {
    if (isInUse(old)) pendingReplacements.set(old, fresh);
    else {
      pendingReplacements.delete(old);
      old.replaceWith(fresh);
    }
  };
  const applyPending = () => setTimeout(() => {
    for (const [old, fresh] of pendingReplacements) replace(old, fresh);
  });
  for (const type of ['focusout', 'selectionchange', 'toggle']) document.addEventListener(type, applyPending, true);

  const mark = (row, text) => {
    row.querySelector('.change-note')?.remove();
    const note = document.createElement('span');
    note.className = 'change-note';
    note.textContent = text;
    (row.querySelector(':scope > th') ?? row.cells[0]).append(' ', note);
    row.classList.remove('just-changed');
    // Forces a reflow, which restarts the animation.
    void row.offsetWidth;
    row.classList.add('just-changed');
    return note;
  };

  const update = (row, fresh) => {
    if (row.classList.contains('row-removed')) {
      row.classList.remove('row-removed');
      row.querySelector('.change-note')?.remove();
    }
    // The row of a missing document has no field cells to update.
    if (row.cells.length !== fresh.cells.length) {
      hasOtherChanges = true;
      return;
    }
    const [checkbox, freshCheckbox] = [row, fresh].map((one) => one.querySelector('input[name="row"]'));
    // A checked box keeps the version that was visible when it was checked.
    if (checkbox && freshCheckbox && !checkbox.checked) checkbox.value = freshCheckbox.value;
    // The cells behind the head of the row, which is that of the document.
    const pairs = [...row.cells].map((cell, index) => [cell, fresh.cells[index]])
      .slice(1 + [...row.cells].findIndex((cell) => cell.localName === 'th'))
      .filter(([old, cell]) => html(pendingReplacements.get(old) ?? old) !== html(cell));
    for (const [old, cell] of pairs) replace(old, cell);
    if (pairs.length === 0) return;
    const note = mark(row, strings.changed);
    setTimeout(() => note.remove(), 10_000);
    announceChange();
  };

  const remove = (row) => {
    if (row.classList.contains('row-removed')) return;
    row.classList.add('row-removed');
    mark(row, strings.removed);
    announceChange();
  };

  // The keys of all rows received since a reset; null otherwise.
  let snapshotKeys = null;
  const removeOthers = (keys) => {
    for (const [key, row] of rows) if (!keys.has(key) && !row.classList.contains('missing')) remove(row);
    for (const key of added) if (!keys.has(key)) added.delete(key);
  };

  const updateRows = (frame) => {
    frame.styles.forEach(addStyle);
    const fresh = [...parse(frame.rows).children];
    const keys = new Set(fresh.map((row) => row.dataset.key));
    for (const row of fresh) {
      const { key } = row.dataset;
      if (rows.has(key)) update(rows.get(key), row);
      else added.add(key);
      snapshotKeys?.add(key);
    }
    if (frame.isComplete) removeOthers(keys);
    frame.fields.forEach((field) => fields.add(field));
    document.querySelectorAll('[data-live-part]').forEach((part, index) => {
      const html = frame.parts[index];
      if (html !== undefined && !isInUse(part)) part.replaceChildren(parse(html));
    });
    document.dispatchEvent(new Event('hearth:replaced'));
    updateStatus();
  };

  const removeRow = ({ key }) => {
    if (rows.has(key)) remove(rows.get(key));
    else if (!added.delete(key)) hasOtherChanges = true;
    updateStatus();
  };

  const showOtherChanges = () => {
    hasOtherChanges = true;
    updateStatus();
  };

  // In an editor, any change is one that somebody else has saved, except the state that follows a reset.
  const showEdit = () => { if (!snapshotKeys) showOtherChanges(); };

  const reset = () => { snapshotKeys = new Set(); };

  const current = () => {
    if (snapshotKeys && !strings.target) removeOthers(snapshotKeys);
    snapshotKeys = null;
    checkpoint();
  };

  let source = null;
  let token = null;
  let retry = 0;
  const firstDelay = 5_000;
  let delay = firstDelay;

  // The connection counts as lost when it stays broken for a few seconds, as restarts of the server are shorter, and when even the
  // heartbeats are missing, as after a cut cable, which the browser does not notice.
  const lossDelay = 3_000;
  const silenceLimit = 75_000;
  let lossTimer = 0;
  let silenceTimer = 0;
  const lose = () => {
    lossTimer ||= setTimeout(() => {
      isLost = true;
      updateStatus();
    }, lossDelay);
  };
  const hear = () => {
    clearTimeout(lossTimer);
    lossTimer = 0;
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(() => {
      isLost = true;
      close();
      open();
      updateStatus();
    }, silenceLimit);
    if (!isLost) return;
    isLost = false;
    updateStatus();
  };

  const checkpoint = () => {
    delay = firstDelay;
    isDisconnected = false;
    disconnectReason = '';
    signInURL = '';
    updateStatus();
  };

  const close = () => {
    for (const timer of [retry, lossTimer, silenceTimer]) clearTimeout(timer);
    lossTimer = 0;
    source?.close();
    source = null;
  };

  // The browser reconnects after a broken connection, but not after a rejected request.
  const disconnect = (frame) => {
    close();
    isDisconnected = true;
    isLost = false;
    // Requests without a session are rejected without a reason.
    if (frame || !signInURL) disconnectReason = frame?.reason ?? '';
    signInURL = frame?.signIn ?? signInURL;
    updateStatus();
    retry = setTimeout(open, delay);
    delay = Math.min(delay * 2, 120_000);
  };

  // On shutdown, the browser reconnects to the restarted server, and so does one that has not read for a while, as when its machine
  // slept. Any other end disconnects.
  const end = ({ reason }) => { if (!['shutdown', 'slow'].includes(reason)) disconnect(); };

  const open = () => {
    if (source || document.hidden) return;
    clearTimeout(retry);
    const url = new URL(strings.stream, location.href);
    if (token) url.searchParams.set('live', token);
    source = new EventSource(url);
    const handlers = {
      rows: strings.target ? showEdit : updateRows, removed: strings.target ? showEdit : removeRow, changed: showOtherChanges, reset, current, checkpoint, end, failed: disconnect,
    };
    for (const [type, handler] of Object.entries(handlers)) {
      source.addEventListener(type, (event) => {
        token = event.lastEventId || token;
        hear();
        handler(JSON.parse(event.data));
      });
    }
    source.addEventListener('open', hear);
    source.addEventListener('error', ({ target }) => {
      if (target !== source) return;
      if (target.readyState === EventSource.CLOSED) disconnect();
      else lose();
    });
  };

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
})();
