// Updates the parts of a page that show the state of the server, every few seconds. Without this script, a reload does.
'use strict';

(() => {
  const parts = [...document.querySelectorAll('[data-refreshes]')];
  const status = document.getElementById('refresh-status');
  const button = document.getElementById('refresh-pause');
  if (parts.length === 0 || !status || !button) return;
  const interval = Number(parts[0].dataset.refreshes) * 1000;
  const policy = window.trustedTypes?.createPolicy('hearth-refresh', { createHTML: (html) => html }) ?? { createHTML: (html) => html };

  // Attributes that the reader and other scripts set.
  const ownAttributes = ['open', 'style'];
  // Returns the node for a place in the page: the old one, changed where it differs, so that the focus, the scroll position and opened
  // tables stay; a copy of the fresh one if they are of different kinds. Children with keys are matched by these.
  const updated = (old, fresh) => {
    if (!old || old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) return document.importNode(fresh, true);
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return old;
    }
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !ownAttributes.includes(name)) old.removeAttribute(name);
    }
    const children = [...old.childNodes];
    const byKey = new Map();
    for (const child of children) {
      const key = child.dataset?.key;
      byKey.set(key, [...byKey.get(key) ?? [], child]);
    }
    const nodes = [...fresh.childNodes].map((child) => updated(byKey.get(child.dataset?.key)?.shift(), child));
    const kept = new Set(nodes);
    for (const child of children) if (!kept.has(child)) child.remove();
    // What stays in order is not moved: that would take its focus.
    let next = old.firstChild;
    for (const node of nodes) {
      if (node === next) next = next.nextSibling;
      else old.insertBefore(node, next);
    }
    return old;
  };
  const update = (freshParts) => freshParts.forEach((fresh, index) => {
    const node = updated(parts[index], fresh);
    if (node !== parts[index]) parts[index].replaceWith(node);
    parts[index] = node;
  });

  // Selected text and input stay, and so do the older entries of a log that the reader has scrolled to.
  const isInUse = () => parts.some((part) => (getSelection()?.type === 'Range' && getSelection().containsNode(part, true))
    || (part.contains(document.activeElement) && document.activeElement.matches('input, select, textarea'))
    || [...part.querySelectorAll('.log')].some((list) => list.getBoundingClientRect().top < 0));
  // The text of a part without times, which change by themselves.
  const text = (part) => {
    const copy = part.cloneNode(true);
    for (const time of copy.querySelectorAll('time')) time.remove();
    return copy.textContent;
  };

  // The connection counts as lost after two failures: restarts of the server are shorter.
  let failures = 0;
  let isPaused = false;
  // True while the page is in use and shows an earlier state.
  let isBehind = false;
  let shownStatus = '';
  const showStatus = () => {
    const isLost = failures > 1 && !isPaused;
    const { lost, paused, changed, show } = status.dataset;
    const line = isPaused ? paused : isLost ? lost : isBehind ? changed : '';
    if (line === shownStatus) return;
    shownStatus = line;
    status.textContent = line;
    status.classList.toggle('lost', isLost);
    if (line !== changed) return;
    const link = document.createElement('a');
    link.href = location.href;
    link.textContent = show;
    status.append(' ', link);
  };

  let isRefreshing = false;
  const refresh = async () => {
    if (document.hidden || isPaused || isRefreshing) return;
    isRefreshing = true;
    try {
      // The header says that this is no use of the session.
      const response = await fetch(location.href, { headers: { 'Hearth-Refresh': '1' }, signal: AbortSignal.timeout(10_000) });
      const page = new DOMParser().parseFromString(policy.createHTML(await response.text()), 'text/html');
      const freshParts = [...page.querySelectorAll('[data-refreshes]')];
      if (freshParts.length !== parts.length) {
        // The page is another one: a job is done, somebody else has signed in, or nobody is.
        if (!response.ok && response.status !== 401) throw new Error(`The server responded with the status ${response.status}.`);
        location.reload();
        return;
      }
      failures = 0;
      if (!isPaused && !isInUse()) {
        update(freshParts);
        isBehind = false;
      } else {
        isBehind = freshParts.some((fresh, index) => text(fresh) !== text(parts[index]));
      }
    } catch {
      failures += 1;
    } finally {
      isRefreshing = false;
    }
    showStatus();
  };
  const run = async () => {
    await refresh();
    setTimeout(run, interval);
  };
  setTimeout(run, interval);
  document.addEventListener('visibilitychange', refresh);

  const pauseText = button.textContent;
  button.hidden = false;
  button.addEventListener('click', () => {
    isPaused = !isPaused;
    button.textContent = isPaused ? button.dataset.resume : pauseText;
    showStatus();
    refresh();
  });
})();
