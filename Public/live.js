// Follows what the page shows, over one stream while it is seen. The stream only tells that something has changed: the page is
// then asked for again, and the rows that differ are put in the place of theirs. Nothing is inserted, moved or scrolled.
'use strict';

(() => {
  const live = document.getElementById('live');
  if (!live) return;
  const status = live.querySelector('[role="status"]');
  const { watch, changed, gone, added, other, show } = live.dataset;
  // As long as the page is not asked for more often than this.
  const pause = 500;
  let source = null;
  let token = null;
  let timer = 0;
  let isLoading = false;
  let isOutdated = false;
  let loaded = 0;

  const open = () => {
    if (source || document.hidden) return;
    const url = new URL(watch, location.href);
    if (token) url.searchParams.set('resume', token);
    source = new EventSource(url);
    const remember = (event) => { token = event.lastEventId || token; };
    for (const type of ['current', 'checkpoint']) source.addEventListener(type, remember);
    for (const type of ['added', 'modified', 'removed', 'deleted', 'reset']) {
      source.addEventListener(type, (event) => {
        remember(event);
        isOutdated = true;
        load();
      });
    }
  };

  const close = () => {
    source?.close();
    source = null;
  };

  const load = () => {
    if (isLoading || timer) return;
    timer = setTimeout(async () => {
      timer = 0;
      isLoading = true;
      isOutdated = false;
      try {
        const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
        take(await response.text());
      } catch {
        // The server is away; the stream tells when it is back.
      }
      isLoading = false;
      loaded = performance.now();
      if (isOutdated) load();
    }, Math.max(0, loaded + pause - performance.now()));
  };

  const say = (text, isSeen) => {
    status.replaceChildren();
    const line = document.createElement('span');
    line.textContent = text;
    if (!isSeen) line.className = 'unseen';
    status.append(line);
    if (!isSeen) return;
    const link = document.createElement('a');
    link.href = location.href;
    link.textContent = show;
    status.append(' ', link);
  };

  // The copy buttons are shown by another script, which is no difference.
  const html = (element) => element.innerHTML.replaceAll(' hidden=""', '');
  const isInUse = (element) => element.contains(document.activeElement) || element.querySelector('details[open]') !== null
    || (getSelection()?.type === 'Range' && getSelection().containsNode(element, true));
  const rows = (table) => new Map([...table.tBodies[0].rows].map((row) => [row.dataset.key, row]));

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
    let differs = false;
    [...fresh.cells].forEach((cell, index) => {
      const old = row.cells[index];
      if (index === 0 || !old || html(old) === html(cell)) return;
      differs = true;
      if (!isInUse(old)) old.replaceWith(document.importNode(cell, true));
    });
    if (!differs) return false;
    const note = mark(row, changed);
    setTimeout(() => note.remove(), 10_000);
    return true;
  };

  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);

  // What the server sends is the page itself. It is parsed into a document that runs nothing; its colours, which are allowed there
  // by a word that isn't this page's, go into a sheet of the script's own.
  const styles = /<style nonce="[^"]*">([^<]*)<\/style>/g;
  const policy = window.trustedTypes?.createPolicy('hearth-live', { createHTML: (html) => html })
    ?? { createHTML: (html) => html };

  const take = (page) => {
    sheet.replaceSync([...page.matchAll(styles)].map((match) => match[1]).join('\n'));
    const fresh = new DOMParser().parseFromString(policy.createHTML(page.replace(styles, '')), 'text/html');
    const table = document.querySelector('table[data-live]');
    const theirTable = fresh.querySelector('table[data-live]');
    const heads = [table, theirTable].map((one) => one?.tHead.textContent);
    // Other columns, another view, or nothing where there was something: the reader says when.
    if (!table || !theirTable) return say(other, true);
    const [mine, theirs] = [rows(table), rows(theirTable)];
    const number = (value) => value.toLocaleString(document.documentElement.lang);
    const news = [...theirs.keys()].filter((key) => !mine.has(key)).length;
    if (news > 0) say(`${added}: ${number(news)}`, true);
    if (heads[0] !== heads[1]) {
      if (news === 0) say(other, true);
      return;
    }
    const facts = fresh.querySelectorAll('[data-live-part]');
    document.querySelectorAll('[data-live-part]').forEach((part, index) => {
      if (facts[index] && html(part) !== html(facts[index]) && !isInUse(part)) {
        part.replaceChildren(...document.importNode(facts[index], true).childNodes);
      }
    });
    let count = 0;
    for (const [key, row] of mine) {
      if (!theirs.has(key)) {
        if (!row.classList.contains('gone')) {
          row.classList.add('gone');
          mark(row, gone);
          count += 1;
        }
      } else {
        if (row.classList.contains('gone')) {
          row.classList.remove('gone');
          row.querySelector('.just-now')?.remove();
        }
        if (update(row, theirs.get(key))) count += 1;
      }
    }
    document.dispatchEvent(new Event('hearth:replaced'));
    if (news === 0 && count > 0) say(`${changed}: ${number(count)}`, false);
  };

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
})();
